"""Serve agents: an MCP server over stdio, and the configuration of its clients."""
