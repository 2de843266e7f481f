"""The teacher's rules for grading: the rubric."""
