"""The embedding models of the site: which there are, adding, trying, taking into use, going back."""
