"""Watch indexed folders and update their indexes."""
