"""What the desk can do, one module a subject."""
