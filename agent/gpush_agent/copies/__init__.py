"""Copies of files between two machines, block by block: gpush cp."""
