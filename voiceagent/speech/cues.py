"""What the words of a pause say about its being the end: tables of words by language, and three answers."""

import re
from dataclasses import dataclass
from typing import Final, Literal

Cue = Literal["open", "whole", "unclear"]
"""More must follow; nothing more need follow; the words do not say."""

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_DIGITS_IN_A_ROW: Final = 3
_WHOLE_NUMBER: Final = 7
_WHOLE_QUESTION: Final = 3
_WHOLE_POLAR: Final = 4
_WHOLE_COMMAND: Final = 3


@dataclass(frozen=True, slots=True)
class _Table:
    """One language. `open`: no sentence ends with these; `hanging`: nor with these, unless it asks; `phrases`: whole texts that
    wait for more, `leads` left out: whoever says "wait" says why, or thinks. `asks`, `polar` (yes or no) and `orders` begin
    questions and commands; `short` is said alone; `closing` ends what is said. What somebody `wants` to do wants a thing to do it
    to ("I'd like to check"), but for `done`."""

    open: frozenset[str]
    hanging: frozenset[str]
    phrases: tuple[str, ...]
    leads: frozenset[str]
    wants: tuple[str, ...]
    done: frozenset[str]
    asks: frozenset[str]
    polar: frozenset[str]
    orders: frozenset[str]
    short: frozenset[str]
    closing: tuple[str, ...]
    digits: frozenset[str]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.split(","))


_TABLES: Final = {
    "en": _Table(
        open=_words(
            "and or but because if when while that than the a an my your our their his its this these some every very"
            " um uh er erm uhm hmm well i we they is are am was were be been would could should will shall must can't"
            " i'm we're they're i've we've i'd i'll we'll it's that's there's and's between into during without whether"
            " until unless although as which whose of"
        ),
        hanging=_words(
            "to for from with at by about on in through over under near behind before after so like not do does did have has had"
        ),
        phrases=_phrases(
            "my number, my name, my address, so i, i want, i need, i'd like, i would like, i was wondering,"
            " i think, i mean, you know, let me see, let me think, could you, can you, would you, will you, do you, did you,"
            " can you tell me, could you tell me, tell me, how much, how many, what kind, i have to, i want to know,"
            " i am looking, wait, wait wait, wait a minute, wait a second, hold on, hang on, one moment, one second,"
            " just a moment, just a second"
        ),
        wants=_phrases("i'd like to, i would like to, i want to, i need to, i have to, can you, could you, will you, would you"),
        done=_words("go leave pay cancel know talk speak stop sleep eat help start wait repeat continue order start"),
        leads=_words("and but so because well um uh er hmm yes yeah no okay hi hello oh"),
        asks=_words("what what's when where where's who who's why how how's which"),
        polar=_words("is are do does did can could will would have has should may am was were"),
        orders=_words(
            "please play stop turn set send call open close add remind cancel tell show read give put go start find book take"
            " write make help switch order delete remove change"
        ),
        short=_words(
            "hello hi hey yes yeah yep no nope okay ok thanks bye goodbye sure right exactly correct stop please sorry"
            " great fine good perfect never maybe nothing morning evening"
        ),
        closing=_phrases("please, thank you, thanks, that's all, that is all, goodbye, bye, right now"),
        digits=_words("zero oh one two three four five six seven eight nine double"),
    ),
    "fr": _Table(
        open=_words(
            "et ou mais parce car si quand que le la les un une des du au aux mon ma mes ton ta tes votre vos notre nos"
            " son sa ses leur ce cette ces euh heu ben je tu nous ils elles est sont suis était j'ai j'aimerais c'est"
            " d'un d'une de très plus afin puisque lorsque dont qui"
        ),
        hanging=_words("à pour avec chez dans sur sous par vers sans entre donc ne alors comme"),
        phrases=_phrases(
            "mon numéro est, mon numéro c'est, mon nom est, je m'appelle, je voudrais, je veux, j'ai besoin, est-ce que,"
            " pouvez-vous,"
            " peux-tu, dites-moi, je pense, je crois, il y a, combien de, quel est, et je, alors je, à côté, parce que,"
            " attends, attendez, un moment, un instant, une seconde, une minute"
        ),
        wants=_phrases("je voudrais, j'aimerais, je veux, je dois, pouvez-vous, vous pouvez, tu peux"),
        done=_words("partir aller payer annuler savoir parler dormir manger attendre répéter continuer aider m'aider"),
        leads=_words("et mais alors parce que euh ben oui non bonjour ah donc"),
        asks=_words("que quoi quand où qui pourquoi comment combien quel quelle quels quelles qu'est"),
        polar=_words("est peux pouvez avez puis"),
        orders=_words(
            "mets mettez allume allumez éteins éteignez appelle appelez ouvre ouvrez ferme fermez ajoute envoie dis joue"
        ),
        short=_words("bonjour salut oui non ouais merci bonsoir stop d'accord voilà exactement parfait bien pardon"),
        closing=_phrases("merci, s'il vous plaît, s'il te plaît, au revoir, c'est tout"),
        digits=_words("zéro un deux trois quatre cinq six sept huit neuf"),
    ),
    "es": _Table(
        open=_words(
            "y e o u pero porque si cuando que el la los las un una unos unas mi mis tu tus su sus nuestro nuestra este esta"
            " eh em pues yo nosotros es son soy era estoy está muy más de del al aunque mientras cuyo quien"
        ),
        hanging=_words("a para con por en sobre sin hasta desde entre hacia entonces como no se lo"),
        phrases=_phrases(
            "mi número es, mi nombre es, me llamo, quiero, quisiera, necesito, me gustaría, puede, puedes, podría, dígame, dime,"
            " creo que, pienso que, cuánto, cuántos, cuál es, y yo, así que, o sea, tengo que, al lado,"
            " espera, espere, un momento, un segundo, un minuto"
        ),
        wants=_phrases("quiero, quisiera, me gustaría, necesito, puede, puedes, podría, tengo que"),
        done=_words("ir pagar cancelar salir saber hablar dormir comer esperar repetir continuar ayudar ayudarme"),
        leads=_words("y pero porque entonces eh pues sí no hola bueno así que ah"),
        asks=_words("qué cuándo dónde quién por cómo cuánto cuántos cuál cuáles"),
        polar=_words("es puede puedes podría hay tiene tienes"),
        orders=_words("pon ponga enciende apaga llama abre cierra añade envía dime cancela recuérdame toca"),
        short=_words("hola sí no gracias vale bueno adiós claro exacto perfecto para perdón bien"),
        closing=_phrases("por favor, gracias, eso es todo, adiós"),
        digits=_words("cero uno dos tres cuatro cinco seis siete ocho nueve"),
    ),
}


def cue(text: str, language: str = "en") -> Cue:
    """What the recognizer's `text` says; a language without a table is read by the English one."""
    table = _TABLES.get(language, _TABLES["en"])
    words = _WORD.findall(text.casefold().replace("’", "'"))
    if not words:
        return "unclear"
    if text.rstrip().endswith(("...", "…", "-", "—", ",")) or _hangs(words, table):
        return "open"
    return "whole" if _is_whole(words, text, table) else "unclear"


def ends(text: str) -> bool:
    """Whether the recognizer closed the sentence; it leaves most of those open that go on."""
    return text.rstrip().endswith((".", "!", "?"))


def is_short(text: str, language: str = "en") -> bool:
    """Whether these are words that people say alone, and networks that judge by sound take for a beginning."""
    table = _TABLES.get(language, _TABLES["en"])
    words = _WORD.findall(text.casefold().replace("’", "'"))
    return 0 < len(words) <= 3 and (words[0] in table.short or " ".join(words) in table.closing)


def dictates(text: str, language: str = "en") -> bool:
    """Whether the text ends in digits, three to six of them in a row, said one by one or written together."""
    return _DIGITS_IN_A_ROW <= _digits_at_end(text, language) < _WHOLE_NUMBER


def ends_in_digits(text: str, language: str = "en") -> bool:
    """Whether its last word is a digit, or digits."""
    return _digits_at_end(text, language) > 0


def _digits_at_end(text: str, language: str) -> int:
    digits = _TABLES.get(language, _TABLES["en"]).digits
    count = 0
    for word in reversed(_WORD.findall(text.casefold())):
        if not (word.isdigit() or word in digits):
            break
        count += len(word) if word.isdigit() else 1
    return count


def _hangs(words: list[str], table: _Table) -> bool:
    last, asks = words[-1], words[0] in table.asks
    if len(words) == 1 and last in table.short:
        return False
    if last in table.open:
        return True
    if last in table.hanging and not asks and not (len(words) > 1 and words[-2] in ("it", "that", "this", "them", "me")):
        return True
    led = _led(words, table)
    return " ".join(led) in table.phrases or (" ".join(led[:-1]) in table.wants and last not in table.done)


def _is_whole(words: list[str], text: str, table: _Table) -> bool:
    said = " ".join(words)
    if any(said == closing or said.endswith(f" {closing}") for closing in table.closing):
        return True
    led = _led(words, table)
    if led and led[0] in table.asks | table.polar:
        return text.rstrip().endswith("?") and len(led) >= (_WHOLE_QUESTION if led[0] in table.asks else _WHOLE_POLAR)
    return bool(led) and led[0] in table.orders and len(led) >= _WHOLE_COMMAND


def _led(words: list[str], table: _Table) -> list[str]:
    """The words behind "well", "yes", "hello" and their like."""
    first = next((at for at, word in enumerate(words) if word not in table.leads), len(words))
    return words[first:]
