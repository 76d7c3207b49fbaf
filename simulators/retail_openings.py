"""How a customer of a store brings up what they want: at least ten sentences for each kind of wish.

Fields: `{order}` ("order #W1234567", "the order with the kettle"), `{items}` ("the kettle and the lamp"),
`{wanted}` ("one that is black"), `{payment}` ("my gift card"), `{address}`, `{reason}` ("I ordered it by
mistake").
"""

from tool_envs.simulators.phrasing import Pool

OPENINGS: dict[str, Pool] = {
    "cancel": (
        "I would like to cancel {order}, because {reason}.",
        "Please cancel {order}: {reason}.",
        "Can you cancel {order} for me? The thing is, {reason}.",
        "I need to cancel {order}. It is simple: {reason}.",
        "{order} should be cancelled, please, since {reason}.",
        "I want {order} cancelled. The reason is that {reason}.",
        "Could you please cancel {order}? You see, {reason}.",
        "It is about {order}. I want to cancel it because {reason}.",
        "I changed my plans and want to cancel {order}; {reason}.",
        "Would you cancel {order} for me, please? In short, {reason}.",
    ),
    "order_address": (
        "{order} should go to another address: {address}.",
        "Please send {order} to {address} instead.",
        "Can you change the shipping address of {order} to {address}?",
        "I need {order} delivered somewhere else, to {address}.",
        "I will not be at home for {order}. Please ship it to {address}.",
        "The address on {order} is not right any more. It should be {address}.",
        "I would like to change where {order} is sent. The new address is {address}.",
        "Could {order} be delivered to {address}, please?",
        "Please update the delivery address of {order}. It is {address}.",
        "It is about {order}: it needs to go to {address}.",
    ),
    "user_address": (
        "I have moved. Please change the address in my profile to {address}.",
        "My new address is {address}. Please put it in my profile.",
        "Can you update the default address of my account to {address}?",
        "The address in my profile is out of date. It should be {address}.",
        "I would like to change my profile address to {address}.",
        "Please update my account: I now live at {address}.",
        "I need the address of my account changed to {address}.",
        "Could you change the default address in my profile? I now live at {address}.",
        "My account still has my old address. The new one is {address}.",
        "Please make {address} the default address in my profile.",
    ),
    "items": (
        "In {order}, I would like to change {items} to {wanted}. For any difference use {payment}.",
        "Please modify {order}: instead of {items} I want {wanted}. Put any difference on {payment}.",
        "{order} was not sent yet. Can {items} be changed to {wanted}? Use {payment} for the difference.",
        "I picked a wrong variant in {order}. I want {wanted} instead of {items}, settled with {payment}.",
        "Can you change {items} in {order} to {wanted}? {payment} is fine for the difference.",
        "I would rather have {wanted} in {order} instead of {items}. Please use {payment}.",
        "It is about {order}. I want {wanted} and not {items}. Any difference goes to {payment}.",
        "Could you swap {items} in my pending {order} for {wanted}? Please settle it with {payment}.",
        "I need a change in {order}: {items} should become {wanted}, and {payment} takes the difference.",
        "Please change the items of {order}. For {items} I want {wanted}. Use {payment}.",
    ),
    "payment": (
        "I want to pay {order} with {payment} instead.",
        "Please change the payment method of {order} to {payment}.",
        "Can {order} be paid with {payment}?",
        "I would like to use {payment} for {order}.",
        "Could you switch the payment of {order} to {payment}?",
        "{order} is charged to the wrong method. It should be {payment}.",
        "I made {order} with the wrong payment method. Please use {payment}.",
        "It is about how {order} is paid: I want it to be {payment}.",
        "Please take the money for {order} from {payment}.",
        "For {order} I prefer to pay with {payment}.",
    ),
    "return": (
        "I want to return {items} from {order}. The refund should go to {payment}.",
        "Please take back {items} of {order} and refund me to {payment}.",
        "Can I send back {items} from {order}? I want the money on {payment}.",
        "I am not happy with {items} in {order} and want to return it, with the refund to {payment}.",
        "I would like to return {items}. It was in {order}. Refund me to {payment}, please.",
        "{items} from {order} has to go back. Please refund {payment}.",
        "It is about {order}: I want to return {items} and get the money back to {payment}.",
        "Could you start a return of {items} from {order}? The refund goes to {payment}.",
        "I need to return {items} of {order}. Please use {payment} for the refund.",
        "Please arrange a return for {items} in {order}, refunded to {payment}.",
    ),
    "exchange": (
        "I want to exchange {items} from {order} for {wanted}. Any difference goes to {payment}.",
        "Please exchange {items} of {order} for {wanted} and use {payment} for the difference.",
        "I received {order}, but I would like {wanted} instead of {items}. Use {payment}.",
        "Can I swap {items} from {order} for {wanted}? {payment} is fine for the difference.",
        "In {order} I got {items}. I want {wanted} instead, settled with {payment}.",
        "I would like an exchange: {items} from {order} for {wanted}, with {payment} for the difference.",
        "It is about {order}: please exchange {items} for {wanted}. Use {payment}.",
        "Could you exchange {items} in {order}? I want {wanted}, and {payment} takes any difference.",
        "{items} from {order} is not what I need. I want to exchange it for {wanted}, with {payment}.",
        "I need {wanted} instead of {items} from {order}. Please settle it with {payment}.",
    ),
}
"""Kind of wish -> openings. A question brings its own (`Fact.question`)."""

LETTER_OPENINGS: dict[str, Pool] = {
    "apology": (
        "I am not happy about {order}. Please write me a letter of apology that says what became of it and "
        "what I paid for it.",
        "I would like a written apology for {order}, a letter that states how far it is and what it cost me.",
        "Please send me a letter that apologizes for {order}. It should name its status and what I paid.",
        "{order} was a disappointment. I want an apology in a letter, with what happened to it and what it "
        "cost.",
        "Could you write me a letter to apologize for {order}? Please put in how it stands and what I paid.",
        "After the trouble with {order} I expect a letter of apology. Say in it where it stands and what I "
        "was charged.",
        "I am upset about {order}. Please write me a letter of apology with its status and its price.",
        "It is about {order}: I want an apology in a letter, which says what its status is and what I paid.",
        "Please apologize for {order} in a letter. Tell me in it what happened to it and what I paid.",
        "I want a letter about {order} that says sorry, tells me what its status is and how much I paid.",
    ),
    "expenses": (
        "I need a letter for my expense report that lists what is in {order}, each with its price, and the "
        "total.",
        "Please write me a letter about {order} for my expense report: every item, its price, and the total.",
        "Could you put {order} in a letter for my employer? I need all items with their prices and the sum.",
        "For my expenses I need a letter about {order}: the items, what each of them cost, and the total.",
        "My company wants a letter about {order}: the items, their prices and what I paid in all.",
        "I have to claim {order} at work. Please write a letter that names the items, their prices and the "
        "total.",
        "Please sum up {order} in a letter for my expenses, with all items, each price and the total.",
        "Accounting asks me for {order} in a letter: what I bought, at which prices, and the total.",
        "It is about {order}: I need a letter for an expense claim, with items, prices and the total.",
        "Would you write me a letter that I can file for {order}? I need each item, its price and the total.",
    ),
    "refusal": (
        "My return of {items} from {order} was refused. Please explain in a letter, in plain words, why.",
        "I was not allowed to return {items} of {order}. Please write me a letter that says why not.",
        "Please write me a letter that explains why I could not send back {items} from {order}.",
        "Somebody at your store refused to take back {items} from {order}. I want the reason in a letter.",
        "You would not take back {items} of {order}. Could you tell me why in a letter, in simple words?",
        "It is about {order}: my return of {items} was turned down. I would like a letter with the reason.",
        "I asked to return {items} from {order} and was told no. Please put the reason in a letter to me.",
        "Could I have a letter that explains why my return of {items} in {order} was turned down?",
        "I do not understand why {items} from {order} could not be returned. Please explain it in a letter.",
        "Please explain in a letter why the return of {items} from {order} was not accepted.",
    ),
}
"""Kind of letter -> openings; they say all that is to stand in it."""
