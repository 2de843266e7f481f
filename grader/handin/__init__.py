"""Students' submissions: finds and unpacks them and judges their form."""
