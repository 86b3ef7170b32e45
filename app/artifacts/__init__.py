"""From states to folders on disk and back: manifest, store, versions."""
