"""What comes out: tables, files, pages."""
