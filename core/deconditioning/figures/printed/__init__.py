"""Figures for print: PNG, PDF, SVG."""
