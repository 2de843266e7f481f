"""The grader's output: tables, files, pages."""
