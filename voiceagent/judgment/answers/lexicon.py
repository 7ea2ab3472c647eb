"""The words of one language by which answers are given, hedged and taken back, and those that add nothing to an answer."""

from dataclasses import dataclass
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words without accents, as `reading.tokens` gives them.

    `frame`: may stand around an answer; `stop`: say nothing about what a question or an option is about; `asking`: open a
    question; `marks`: what was said before is taken back; `least` and `most`: by which the end of a scale is meant; `amounts`:
    begin questions for a number; `times`: phrases and what they are in figures; `ordinals`: by place, -1 the last, -2 the middle;
    `scales`: words in their order; `greetings`: what sounds like an answer and is none; `breaks`: begin another clause;
    `telling`: of what happened, or of others, rather than of what is wanted.
    """

    frame: frozenset[str]
    stop: frozenset[str]
    yes: frozenset[str]
    yes_phrases: tuple[tuple[str, ...], ...]
    no: frozenset[str]
    negations: frozenset[str]
    hedges: frozenset[str]
    asking: frozenset[str]
    marks: frozenset[str]
    alternatives: frozenset[str]
    ordinals: dict[str, int]
    numbered: frozenset[str]
    figures: dict[str, str]
    least: frozenset[str]
    most: frozenset[str]
    amounts: frozenset[str]
    polite: frozenset[str]
    alike: dict[str, str]
    contractions: tuple[tuple[str, str], ...]
    times: tuple[tuple[tuple[str, ...], str], ...]
    polar: frozenset[str]
    scales: tuple[tuple[str, ...], ...]
    greetings: tuple[tuple[str, ...], ...]
    breaks: frozenset[str]
    telling: frozenset[str]


_EN: Final = Lexicon(
    frame=_words(
        "i we you me us would will shall rather have had take like want prefer go with let do make that this is be are"
        " was fine good great better best works work suits suit for um uh er well so just then the a an one ones option"
        " number choose choice pick say said should at on in to of my our your please ok okay now it its there get give"
        " thing answer order book use instead definitely perfect ideal sounds really much very and case does did"
        " about as regarding by from them those these ones both might could possible"
    ),
    stop=_words(
        "i we you me us my our your the a an is are was be do does did shall should would will can could may might to of"
        " in on at for with it its that this what which who when where how or and better best two should have has want"
        " like there as by from about not whose many much one please them they so if or the take"
    ),
    yes=_words("yes yeah yep yup sure absolutely certainly definitely aye gladly correct exactly"),
    yes_phrases=(("of", "course"), ("go", "ahead"), ("do", "it"), ("please", "do"), ("by", "all", "means"), ("why", "not")),
    no=_words("no nope nah"),
    negations=_words("not never neither nor none cannot"),
    hedges=_words("maybe perhaps probably possibly guess think suppose might unsure either"),
    asking=_words(
        "what which who whom whose when where why how is are was were do does did can could would will shall should may has have"
    ),
    marks=_words("no wait actually sorry mean rather instead oh make scratch correction"),
    alternatives=_words("or"),
    ordinals={
        "first": 0,
        "1st": 0,
        "former": 0,
        "second": 1,
        "2nd": 1,
        "third": 2,
        "3rd": 2,
        "fourth": 3,
        "4th": 3,
        "fifth": 4,
        "5th": 4,
        "sixth": 5,
        "6th": 5,
        "seventh": 6,
        "7th": 6,
        "eighth": 7,
        "8th": 7,
        "last": -1,
        "latter": -1,
        "middle": -2,
    },
    numbered=_words("number option choice answer"),
    figures={"1": "one", "2": "two", "3": "three"},
    least=_words("least smallest cheapest cheaper earliest earlier sooner soonest shortest shorter smaller lowest lower fewer"),
    most=_words("most biggest bigger largest larger latest later longest longer dearest highest higher priciest expensive"),
    amounts=_words("many much time number"),
    polite=_words(
        "hello hi hey bye goodbye thanks thank welcome second moment minute hold wait sorry pardon excuse hear listen"
        " stop hm hmm mm mhm know later think mind whatever nothing everything"
    ),
    alike={"big": "large", "little": "small", "tiny": "small", "huge": "large", "color": "colour", "thirties": "30"},
    contractions=(
        ("won't", "will not"),
        ("can't", "can not"),
        ("n't", " not"),
        ("'ll", ""),
        ("'d", ""),
        ("'m", ""),
        ("'re", ""),
        ("'ve", ""),
        ("let's", "let"),
        ("'s", ""),
    ),
    times=(
        (("half", "past", "#"), "# 30"),
        (("quarter", "past", "#"), "# 15"),
        (("#", "o", "clock"), "#"),
        (("#", "oclock"), "#"),
    ),
    polar=_words("is are was do does did can could would will shall should may has have am"),
    scales=(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        ("small", "medium", "large"),
        ("morning", "noon", "afternoon", "evening", "night"),
        ("today", "tonight", "tomorrow"),
        ("short", "long"),
    ),
    greetings=(("good", "morning"), ("good", "evening"), ("good", "afternoon"), ("good", "night")),
    breaks=_words("but so because"),
    telling=_words(
        "he she they his her him hers their was were had said told says yesterday ago last never always everybody nobody"
        " everyone people there every saw met went came got won lost been already"
    ),
)

_FR: Final = Lexicon(
    frame=_words(
        "je j me moi nous on tu vous il elle ca c ce cela est serait sera prends prendrai prendrais prendre veux voudrais"
        " voudrait prefere preferais choisis choisirais mets plutot mieux bien bon bonne parfait va vais vas aller y d l"
        " le la les un une de du des pour a au aux en s plait te svp euh ben bah alors donc option numero celui celle"
        " convient irait merci mettons disons"
    ),
    stop=_words(
        "je j me moi nous on tu vous il elle ca c ce cela est sont es d l le la les un une de du des pour a au aux en que"
        " qu quel quelle quels quelles qui quand ou comment combien et s t m n y est-ce"
    ),
    yes=_words("oui ouais si accord absolument certainement volontiers exactement"),
    yes_phrases=(("bien", "sur"), ("vas", "y"), ("allez", "y"), ("d", "accord")),
    no=_words("non nan"),
    negations=_words("pas jamais ni aucun aucune n ne"),
    hedges=_words("peut peutetre etre crois pense suppose probablement sais"),
    asking=_words("quel quelle quels quelles qui quand ou comment combien pourquoi est-ce"),
    marks=_words("non attends attendez pardon enfin finalement plutot desole desolee"),
    alternatives=_words("ou"),
    ordinals={
        "premier": 0,
        "premiere": 0,
        "1er": 0,
        "1ere": 0,
        "deuxieme": 1,
        "second": 1,
        "seconde": 1,
        "2eme": 1,
        "troisieme": 2,
        "3eme": 2,
        "quatrieme": 3,
        "4eme": 3,
        "dernier": -1,
        "derniere": -1,
    },
    numbered=_words("numero option choix"),
    figures={"1": "un", "2": "deux", "3": "trois"},
    least=_words("moins petit petite"),
    most=_words("grand grande"),
    amounts=_words("combien heure nombre numero"),
    polite=_words("bonjour bonsoir salut merci pardon seconde instant moment attends attendez sais rien"),
    alike={},
    contractions=(("'", " "),),
    times=((("#", "heures", "et", "demie"), "# 30"), (("#", "heures"), "#"), (("#", "heure"), "#"), (("#", "h"), "#")),
    polar=_words("est-ce puis peux dois faut voulez veux"),
    scales=(
        ("lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"),
        ("petit", "moyen", "grand"),
        ("matin", "midi", "soir", "nuit"),
    ),
    greetings=(("bonne", "soiree"), ("bonne", "nuit"), ("bonne", "journee")),
    breaks=_words("mais donc car"),
    telling=_words("il ils elle elles lui leur etait etaient avait hier dernier derniere dit jamais toujours tout vu deja"),
)

_ES: Final = Lexicon(
    frame=_words(
        "yo me mi nos tu te usted el la los las lo un una unos de del a al en para por con que es seria sera quiero"
        " quisiera prefiero preferiria tomo tomare elijo mejor bien bueno buena perfecto vale va favor pues entonces eh"
        " este esta opcion numero dale ponga pon sea gracias me viene"
    ),
    stop=_words(
        "yo me mi nos tu te usted el la los las lo un una de del a al en para por con que es son cual cuales quien cuando"
        " donde como cuanto cuanta cuantos cuantas y o quiere"
    ),
    yes=_words("si claro vale sip correcto exacto"),
    yes_phrases=(("por", "supuesto"), ("de", "acuerdo"), ("como", "no")),
    no=_words("no nop"),
    negations=_words("no nunca ni ninguno ninguna tampoco"),
    hedges=_words("quiza quizas creo supongo talvez vez probablemente pienso"),
    asking=_words("que cual quien cuando donde como cuanto cuanta cuantos cuantas hay es"),
    marks=_words("no espera espere perdon digo mejor"),
    alternatives=_words("o"),
    ordinals={
        "primero": 0,
        "primera": 0,
        "primer": 0,
        "1a": 0,
        "1o": 0,
        "segundo": 1,
        "segunda": 1,
        "2a": 1,
        "2o": 1,
        "tercero": 2,
        "tercera": 2,
        "3a": 2,
        "cuarto": 3,
        "cuarta": 3,
        "ultimo": -1,
        "ultima": -1,
    },
    numbered=_words("numero opcion"),
    figures={"1": "uno", "2": "dos", "3": "tres"},
    least=_words("menos pequeno pequena barato barata"),
    most=_words("grande caro cara"),
    amounts=_words("cuantos cuantas cuanto cuanta hora numero"),
    polite=_words("hola adios gracias perdon momento espera espere segundo nada"),
    alike={},
    contractions=(),
    times=((("#", "y", "media"), "# 30"), (("#", "y", "cuarto"), "# 15"), (("#", "horas"), "#")),
    polar=_words("puedo debo quiere"),
    scales=(
        ("lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"),
        ("pequeno", "mediano", "grande"),
        ("manana", "mediodia", "tarde", "noche"),
    ),
    greetings=(("buenos", "dias"), ("buenas", "tardes"), ("buenas", "noches")),
    breaks=_words("pero porque"),
    telling=_words("el ella ellos ellas su sus ayer pasado pasada dijo nunca siempre todos fue era habia tenia vi ya"),
)

LEXICONS: Final = {"en": _EN, "fr": _FR, "es": _ES}


def lexicon(language: str) -> Lexicon:
    """A language's words; of one that there are none for, the English ones."""
    return LEXICONS.get(language[:2].casefold(), _EN)
