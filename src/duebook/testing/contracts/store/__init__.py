"""What a store owes the engine, as tests to inherit for a store of your own.

The modules beside this one are its chapters. `life` is what they are told in: one step of a worker or an owner each.
"""

from .claiming import Claiming
from .controlling import Controlling
from .dating import Dating
from .gathering import Gathering
from .holding import Holding
from .looking import Looking
from .reaching import Reaching
from .reading_up_to import ReadingUpTo
from .recording import Recording
from .recurring import Recurring
from .retaining import Retaining
from .scheduling import Scheduling
from .sparing import Sparing
from .wording import Wording


class StoreContract(
    Scheduling, Claiming, Holding, Recording, Controlling, Looking, Retaining, Wording, Recurring, Dating, ReadingUpTo,
    Gathering, Reaching, Sparing,
):  # fmt: skip
    """Inherit it as `class TestMyStore(StoreContract)` and write `empty`: a context that yields your `ports.Database`
    and your `ports.Store` with nothing in them. Each clause is a plain test that enters it in an event loop of its own,
    once for each of its cases.
    """


__all__ = ["StoreContract"]
