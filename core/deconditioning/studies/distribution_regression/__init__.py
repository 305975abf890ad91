"""Outcomes explained by distributions."""
