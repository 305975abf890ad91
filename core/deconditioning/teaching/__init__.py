"""Exercises over the pages: what is asked, and when a page's own numbers show that it is done."""
