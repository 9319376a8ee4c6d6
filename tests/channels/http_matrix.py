"""What an attempt answers, by where it ended and by provider. Data only: what-providers-say.md is made of it."""

from __future__ import annotations

MATRIX = """
                                      resend      postmark    sendgrid    mailgun     ses         brevo

the name has no address               Retry       Retry       Retry       Retry       Retry       Retry
nobody listens                        Retry       Retry       Retry       Retry       Retry       Retry
a certificate of somebody else        Retry       Retry       Retry       Retry       Retry       Retry
closed while the body was on its way  Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
closed without an answer              Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
no answer in time                     Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
an answer that is not HTTP            Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
half of a status line                 Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
success                               Accepted    Accepted    Accepted    Accepted    Accepted    Accepted
success, cut off                      Accepted    Accepted    Accepted    Uncertain   Accepted    Accepted
refused as documented                 Rejected    Rejected    Rejected    Rejected    Rejected    Rejected
302                                   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
400                                   Rejected    Uncertain   Rejected    Rejected    Uncertain   Rejected
401                                   Retry       Retry       Retry       Retry       Uncertain   Retry
403                                   Retry       Retry       Retry       Retry       Uncertain   Retry
404                                   Retry       Retry       Retry       Retry       Uncertain   Retry
408                                   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
409                                   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
413                                   Uncertain   Rejected    Rejected    Rejected    Uncertain   Rejected
422                                   Rejected    Rejected    Uncertain   Uncertain   Uncertain   Uncertain
429                                   Throttled   Throttled   Throttled   Throttled   Throttled   Throttled
500                                   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
502                                   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
503                                   Uncertain   Uncertain   Retry       Uncertain   Uncertain   Uncertain
504                                   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain   Uncertain
"""

PROVIDERS = MATRIX.split("\n", 2)[1].split()


def rows() -> list[tuple[str, list[str]]]:
    """Return each phase with what every provider's channel answers, in the order of PROVIDERS."""
    lines = [line.split() for line in MATRIX.split("\n", 2)[2].splitlines() if line.strip()]
    return [(" ".join(words[: -len(PROVIDERS)]), words[-len(PROVIDERS) :]) for words in lines]
