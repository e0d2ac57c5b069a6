"""The site's colour as the style of its pages: legible in the light and the dark theme. Pure."""

from colorsys import hls_to_rgb, rgb_to_hls

Rgb = tuple[float, float, float]  # each from 0 to 1

# The ratio of WCAG's level AA, with a margin for rounding.
LEGIBLE = 4.6
_WHITE, _INK, _DARK = (1.0, 1.0, 1.0), (0.06, 0.06, 0.09), (0.165, 0.153, 0.145)  # `--raised` of the dark theme
_STEP = 0.01


def style_of(colour: str) -> str:
    """Return CSS that sets the tokens of the accent for a colour such as `#4f46e5`."""
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    light = _legible((red, green, blue), _WHITE, -_STEP)
    dark = _legible((red, green, blue), _DARK, _STEP)
    tokens = {
        "site-accent": (light, dark),
        "accent-strong": (_shifted(light, -0.07), _shifted(dark, 0.07)),
        "on-accent": (_WHITE, _INK),
    }
    lines = [f"--{name}:light-dark({_hex(first)},{_hex(second)});" for name, (first, second) in tokens.items()]
    soft = (f"color-mix(in oklab,var(--accent) {share}%,{ground})" for share, ground in ((8, "#fff"), (22, "#191817")))
    return ":root{" + "".join(lines) + f"--accent-soft:light-dark({','.join(soft)});" + "}"


def contrast(one: Rgb, other: Rgb) -> float:
    """Return the contrast ratio of two colours, 1 to 21, as WCAG 2.2 defines it."""
    brighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def _luminance(colour: Rgb) -> float:
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _legible(colour: Rgb, ground: Rgb, step: float) -> Rgb:
    """Return the nearest colour of the same hue that is legible on a ground; it exists for white and dark grounds."""
    while contrast(colour, ground) < LEGIBLE:
        colour = _shifted(colour, step)
    return colour


def _shifted(colour: Rgb, step: float) -> Rgb:
    """Return a lighter or, with a negative step, a darker colour of the same hue."""
    hue, lightness, saturation = rgb_to_hls(*colour)
    return hls_to_rgb(hue, min(max(lightness + step, 0.0), 1.0), saturation)


def _hex(colour: Rgb) -> str:
    return "#" + "".join(f"{round(each * 255):02x}" for each in colour)
