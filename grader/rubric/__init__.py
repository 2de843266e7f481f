"""What the teacher says: the rubric."""
