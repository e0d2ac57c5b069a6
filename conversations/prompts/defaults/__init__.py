"""The default prompts of the release; administrators edit them as `PromptTemplate` rows.

`{{ name }}` is replaced by a variable; `templates.VARIABLES` lists those of each purpose.
"""

from conversations.prompts.defaults import en, zh

# (purpose, language) → (system, user)
DEFAULTS: dict[tuple[str, str], tuple[str, str]] = {
    (purpose, language): texts
    for language, prompts in (("en", en.PROMPTS), ("zh", zh.PROMPTS))
    for purpose, texts in prompts.items()
}
# Appended to the prompt for understanding a question if documents are in another language than the question.
TRANSLATIONS = {"en": en.TRANSLATIONS, "zh": zh.TRANSLATIONS}
