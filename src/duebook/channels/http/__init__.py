"""What every channel that speaks HTTP shares.

`call` is a request and `answer` what came back. `address` finds where to connect, `exchange` makes one call and knows
what had left when it failed, and `client` holds what the calls of one channel have in common. Above them, `api` is the
base of the providers' e-mail APIs: `meaning` reads refusals and `waiting` their headers, `mailbox` and `tag` write what
goes into a request, `endpoint` and `hiding` keep its secrets, and `receiving` checks what is posted back.
"""
