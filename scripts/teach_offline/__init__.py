"""The story and page One dimension as a folder of static pages."""
