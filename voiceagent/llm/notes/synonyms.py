"""Words that mean the same at a front desk, whatever the house: what a general embedding holds too far apart. English only."""

from voiceagent.llm.notes.words import stem

# One group a line; a word may stand in several. Written from general English, not from any notes of this project.
_GROUPS_TEXT = """
open closed close shut opening closing hours opens closes
start begin begins starts beginning starting
end ends finish finishes over
wifi wireless internet online wlan network
phone telephone call ring number
email mail
toilet toilets restroom restrooms bathroom bathrooms washroom lavatory loo
car cars parking park drive vehicle garage
bike bikes bicycle bicycles cycle cycling
child children kid kids son daughter boy girl toddler baby little
baby infant toddler cot
dog dogs puppy poodle pet pets animal animals
cat cats kitten pet pets animal animals
rent rented rental hire hired borrow borrowed lend lent loan
buy bought purchase sell sells sold shop sale
ticket tickets admission entry entrance
fee fees charge charges price prices cost
discount reduction reduced cheaper rebate concession off
pensioner pensioners senior seniors retired elderly
doctor doctors physician dr surgery gp medical
ill illness sick sickness unwell fever
medicine tablets pills prescription prescriptions drugs
eat food meal meals lunch dinner breakfast sandwich sandwiches snack restaurant cafe
drink drinks coffee tea water beverage
vegetarian vegetarians vegan meat
smoke smoking smokers cigarette cigarettes
book booking bookings booked reserve reserved reservation
cancel cancelled cancellation cancels
appointment appointments booking
course courses class classes lesson lessons training workshop
class classes grade pupils school
teach teaches teacher teachers led lead instructor trainer
join membership member members sign enrol register registration enrolment
lost left forgot forgotten missing lose property behind
rubbish trash garbage waste bin
wheelchair wheelchairs disabled step-free ramp lift elevator accessible crutches
lift elevator
stairs upstairs floor
bus buses tram train station shuttle stop transport
holiday holidays vacation
boss owner manager director head principal chief
job jobs hiring vacancy vacancies apprentice position
luggage bags suitcase suitcases backpack backpacks rucksack
cash card cards credit debit visa mastercard pay payment
deposit advance upfront
pick collect collected collection fetch fetched
deliver delivery delivered bring
wash washing laundry washer
swim swimming pool swimmers bathing
photo photos photograph photographs picture pictures camera
wedding weddings marry married
party parties birthday celebrate celebration
fix fixed repair repaired repairs mend mending
gift gifts present presents donate donation donations
volunteer volunteers volunteering
password code login
locker lockers locked
quiet silence silent noise noisy
shower showers
late later
group groups party
guide guided tour tours
speak speaks language languages
address street
dentist teeth
cafe café coffee
color colour
jewellery jewelry
license licence permit
center centre
"""


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for line in _GROUPS_TEXT.strip().splitlines():
        roots = {stem(word) for word in line.split()}
        for root in roots:
            table.setdefault(root, set()).update(roots - {root})
    return {root: frozenset(others) for root, others in table.items()}


_TABLE = _table()


def near(root: str) -> frozenset[str]:
    """The stems that may stand for this stem; empty for most."""
    return _TABLE.get(root, frozenset())
