"""Documentation and configuration files, cut into sections by their lines."""
