"""Timing the admin's lists on a site with years of conversations."""
