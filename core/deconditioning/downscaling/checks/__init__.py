"""Tests of a map: one scale up, assumptions, intervals, and the benefit of learning."""
