"""labelserve: train multi-label text classifiers offline, serve their labels over HTTP."""
