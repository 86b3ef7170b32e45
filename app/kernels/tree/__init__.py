"""Label trees: searched by a beam, grown by clustering."""
