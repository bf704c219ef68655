"""Interpreters that are started ahead: the parents of warm ranks."""
