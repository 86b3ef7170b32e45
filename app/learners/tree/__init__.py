"""Label trees."""
