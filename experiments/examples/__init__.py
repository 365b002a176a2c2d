"""Recipes: these environments in frameworks that people already use; see README.md."""
