"""Tests of a sender, here ../senders/sender.py, that show in a second the outcome of its pushes in a day."""
import pathlib, sys

sys.path.append(str(pathlib.Path(__file__).parent / "../senders"))
from sender import Sender

HOST = "17" * 32
SEAHAWKS = {"id": "w1", "kind": "scores", "family": "systemSmall", "configuration": {"team": "seahawks"}}
RAMS = SEAHAWKS | {"id": "w2", "configuration": {"team": "rams"}}


def test_a_goal_reloads_the_widget_of_its_team(gateway):
    gateway.register(HOST, SEAHAWKS, RAMS)
    gateway.reload(HOST)
    goal = Sender().send("scores", {"team": ["seahawks"]})
    assert gateway.outcomes(goal) == {"issued": 1}
    assert gateway.reload(HOST) == 1
    assert gateway.outcomes(goal) == {"reloaded": 1}


def test_a_second_goal_waits_for_five_minutes(gateway):
    gateway.register(HOST, SEAHAWKS)
    gateway.reload(HOST)
    sender = Sender()
    first = sender.send("scores", {"team": ["seahawks"]})
    gateway.reload(HOST)
    gateway.advance(minutes=2)
    second = sender.send("scores", {"team": ["seahawks"]})
    assert gateway.outcomes(second) == {"deferred": 1}
    gateway.advance(minutes=4)
    assert gateway.reload(HOST) == 1
    assert gateway.outcomes(first) == gateway.outcomes(second) == {"reloaded": 1}


def test_a_day_of_news_every_ten_minutes(gateway):
    gateway.register(HOST, SEAHAWKS)
    gateway.reload(HOST)
    sender, pushes, reloads = Sender(), [], 0
    for _ in range(24 * 6):
        pushes.append(sender.send("scores", {"team": ["seahawks"]}, priority=5))
        gateway.advance(minutes=10)
        reloads += gateway.reload(HOST)
    gateway.advance(minutes=241)
    gateway.reload(HOST)
    # A push was shown alone, or with a later one, or its four hours ended before the budget had a reload for it.
    ends = {end for push in pushes for end in gateway.outcomes(push)}
    assert "reloaded" in ends and not ends & {"deferred", "issued"}
    assert 10 < reloads < 70
