"""The shape of indexed code: places, whole definitions, outlines and usages."""
