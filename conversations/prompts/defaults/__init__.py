"""The prompts that a new site starts with; administrators edit them as `PromptTemplate` rows.

`{{ name }}` is replaced by a variable; `templates.VARIABLES` lists those of each purpose.
"""

from conversations.prompts.defaults import en, zh

# (purpose, language) → (system, user)
DEFAULTS: dict[tuple[str, str], tuple[str, str]] = {
    (purpose, language): texts
    for language, prompts in (("en", en.PROMPTS), ("zh", zh.PROMPTS))
    for purpose, texts in prompts.items()
}
# What the prompt to understand a question ends with, in its language, where documents are in another than the question.
TRANSLATIONS = {"en": en.TRANSLATIONS, "zh": zh.TRANSLATIONS}
