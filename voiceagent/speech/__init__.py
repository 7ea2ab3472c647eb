"""Between sound and text: detectors, recognizers, voices."""
