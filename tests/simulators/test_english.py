"""Which replies are taken for English."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tool_envs.simulators.english import is_english

BY_HAND = json.loads((Path(__file__).parent / "agent_messages.json").read_bytes())


@pytest.mark.parametrize(
    "text",
    [
        "Su pedido #W1234567 ha sido cancelado. Gracias por su paciencia.",
        "¿Quiere usted que cancele el pedido?",
        "Votre commande #W1234567 a été annulée, merci de votre patience.",
        "Ihre Bestellung wurde storniert. Kann ich Ihnen sonst noch helfen?",
        "Il suo ordine è stato annullato, grazie.",
        "O seu pedido foi cancelado. Obrigado!",
        "Uw bestelling is geannuleerd. Kunt u het bevestigen?",
        "您的订单已取消。",
        "Ваш заказ отменён.",
        "Your order has been cancelled. 订单",
    ],
)
def test_other_languages(text):
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Done.",
        "$1,234.50",
        "#W1234567: gift_card_1234567",
        "Los Angeles, CA; Des Moines, IA; El Paso, TX; Chicago, IL",
        "josé.garcía@example.com",
        "The café chair is 25 µm thick and 3 Ω.",
        "Shall I cancel order #W1234567? Please reply with yes.",
    ],
)
def test_english_and_texts_without_a_language(text):
    assert is_english(text)


def test_messages_by_hand_are_english():
    texts = [each["message"] for kind in ("right", "wrong") for each in BY_HAND[kind]] + BY_HAND["refusals"]

    assert len(texts) > 20
    assert [text for text in texts if not is_english(text)] == []


def test_messages_of_a_model_are_english(tau_bench_path):
    path = tau_bench_path / "golden" / "gpt4o_airline_trajectories.json"
    messages = [m for each in json.loads(path.read_bytes()) for m in each["messages"]]
    texts = [m["content"] for m in messages if m["role"] == "assistant" and m["content"]]

    assert len(texts) > 100
    assert [text for text in texts if not is_english(text)] == []


@given(st.text())
def test_every_text_has_an_answer_that_ascii_case_does_not_change(text):
    swapped = "".join(char.swapcase() if char.isascii() else char for char in text)

    assert is_english(text) == is_english(swapped)
