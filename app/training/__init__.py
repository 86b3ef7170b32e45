"""The offline story: recipe in, model out."""
