"""Times of day that a text confirms, and doubts (docs/spec/adapters/journal.md, Times of day)."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kansho_sign.adapters.journal.times_of_day import TimeOfDay, confirmed_time, unconfirmed_pair

HOUR = 60


def at(hour: int, minute: int = 0) -> TimeOfDay:
    return TimeOfDay(hour * HOUR + minute, hour * HOUR + minute)


def either(first: TimeOfDay, second: TimeOfDay) -> TimeOfDay:
    return TimeOfDay(first.earliest, second.latest)


class TestForms:
    @pytest.mark.parametrize(
        ("text", "time"),
        [
            ("07:30", at(7, 30)),
            ("7:30", at(7, 30)),
            ("00:00", at(0)),
            ("23:59", at(23, 59)),
            ("07:30 Uhr", at(7, 30)),
            ("7.30 Uhr", at(7, 30)),
            ("7 Uhr", at(7)),
            ("0 Uhr", at(0)),
            ("7 Uhr 30", at(7, 30)),
            ("7 Uhr 05", at(7, 5)),
            ("7 UHR 30", at(7, 30)),
            ("7:30 am", at(7, 30)),
            ("7:30 pm", at(19, 30)),
            ("7:30pm", at(19, 30)),
            ("7:30 p.m.", at(19, 30)),
            ("7:30 AM", at(7, 30)),
        ],
    )
    def test_a_time_alone_and_in_a_sentence(self, text: str, time: TimeOfDay) -> None:
        for whole in (text, f"Um {text}", f"({text})", f"Woke at {text}, then ran.", f"„{text}“", f"**{text}**:"):
            assert confirmed_time(whole) == time, whole

    @pytest.mark.parametrize(
        ("text", "time"),
        [
            ("12:00 am", at(0)),
            ("12:30 am", at(0, 30)),
            ("1:00 am", at(1)),
            ("11:59 am", at(11, 59)),
            ("12:00 pm", at(12)),
            ("12:30 pm", at(12, 30)),
            ("1:00 pm", at(13)),
            ("11:59 pm", at(23, 59)),
        ],
    )
    def test_the_rules_of_twelve_hours(self, text: str, time: TimeOfDay) -> None:
        assert confirmed_time(text) == time

    @pytest.mark.parametrize("text", ["0:30 am", "00:30 pm", "13:00 pm", "13:30 am", "7:60 am", "7 am", "7am", "12 pm"])
    def test_what_twelve_hours_do_not_have_is_none(self, text: str) -> None:
        assert confirmed_time(text) is None

    @pytest.mark.parametrize(
        ("text", "time"),
        [
            ("halb acht morgens", at(7, 30)),
            ("morgens um halb acht", at(7, 30)),
            ("heute früh halb acht", at(7, 30)),
            ("halb zwölf vormittags", at(11, 30)),
            ("halb eins nachmittags", at(12, 30)),
            ("nachmittags gegen halb vier", at(15, 30)),
            ("abends um halb acht", at(19, 30)),
            ("Am Abend um halb acht", at(19, 30)),
            ("um halb acht am Morgen", at(7, 30)),
            ("Halb 8 abends", at(19, 30)),
        ],
    )
    def test_half_past_beside_a_part_of_the_day(self, text: str, time: TimeOfDay) -> None:
        assert confirmed_time(text) == time

    @pytest.mark.parametrize(
        "text",
        [
            "halb acht",
            "um halb acht",
            "abends, um halb acht",
            "abends um, halb acht",
            "Abend. Halb acht",
            "abends\num halb acht",
            "Morgen um halb acht",
            "guten Morgen halb acht",
            "abends war ich um halb acht da",
            "halb eins abends",
            "halb zwölf nachmittags",
            "halb eins nachts",
            "abends halb acht morgens",
            "halb dreizehn morgens",
            "halb 13 morgens",
            "halb 0 morgens",
            "halb acht Uhr",
        ],
    )
    def test_half_past_without_one_reading_is_none(self, text: str) -> None:
        assert confirmed_time(text) is None

    def test_the_same_time_written_again_is_one_time(self) -> None:
        assert confirmed_time("7:30 Uhr und 07:30, also 7.30 Uhr.\n7 Uhr 30. Morgens halb acht") == at(7, 30)
        assert confirmed_time("07:30 7:30 am") == at(7, 30)

    def test_two_times_are_not_exactly_one(self) -> None:
        assert confirmed_time("07:30 auf, 08:00 los") is None
        assert confirmed_time("07:30\n19:30") is None

    def test_a_number_that_may_count_what_follows_leaves_both_readings(self) -> None:
        assert confirmed_time("Um 7 Uhr 30 Liegestütze") == either(at(7), at(7, 30))
        assert confirmed_time("7 Uhr 30 km gelaufen") == either(at(7), at(7, 30))
        assert confirmed_time("7 Uhr 30. Liegestütze") == at(7, 30)
        assert confirmed_time("7 Uhr 30\nkm gelaufen") == at(7, 30)
        assert confirmed_time("7 Uhr 75 kg gewogen") == at(7)
        assert confirmed_time("7 Uhr, 30 Liegestütze") == at(7)

    def test_the_german_am_leads_on_and_is_no_half_of_the_day(self) -> None:
        assert confirmed_time("Um 12:30 am Bahnhof") == either(at(0, 30), at(12, 30))
        assert confirmed_time("13:30 am Bahnhof") == at(13, 30)
        assert confirmed_time("7:30 am Bahnhof") == at(7, 30)
        assert confirmed_time("7:30 am Abend") is None
        assert confirmed_time("at 12:30 am we left") == at(0, 30)
        assert confirmed_time("12:30 a.m. we left") == at(0, 30)
        assert confirmed_time("12:30 AM we left") == at(0, 30)


class TestNone:
    @pytest.mark.parametrize(
        "text",
        ["", " \n ", "nothing", "5 km", "Kapitel 7", "2024", "7", "10 %", "5,2 km", "1.234 Seiten", "die Ruhr fuhr"],
    )
    def test_nothing_that_looks_like_a_time(self, text: str) -> None:
        assert confirmed_time(text) is None
        assert confirmed_time(f"{text} 07:30") == at(7, 30)

    @pytest.mark.parametrize("text", ["07.30.2024", "v1.20", "1.2.30", "3.14159", "abc7.30", "12.000"])
    def test_dates_and_versions_are_no_times_and_no_doubts(self, text: str) -> None:
        assert confirmed_time(text) is None
        assert confirmed_time(f"{text} 07:30") == at(7, 30)

    @pytest.mark.parametrize(
        "text",
        [
            "24:00",
            "24 Uhr",
            "7:60",
            "25:30",
            "25 Uhr",
            "7:5",
            "007:30",
            "7:300",
            "-7:30",
            "~7:30",
            "+01:00",
            "12:30:45",
            "3:1",
            "1:2:3",
            "7:30-8:00",
            "7:30–8:00",
            "7:30/8:00",
            "2024-05-01T07:30",
            "room7:30",
            "7:30x",
            "07:30Uhr",
            "07:30,dann",
            "http://localhost:8080/",
            "٠٧:٣٠",
            "०७:३०",
            "０７：３０",
            "07：30",
            "07\u200b:30",
            "7³⁰ Uhr",
            "٧ Uhr",
            "7. Uhr",
            "7\nUhr",
            "7-8 Uhr",
            "7Uhr",
            "mit dem 8-Uhr-Zug",
            "nach der Uhr",
            "7.30",
            "um 7.30 auf",
            "7.60 Uhr",
            "24.30 Uhr",
            "07.05.2024 Uhr",
            "sieben Uhr",
            "seven o'clock",
            "seven o’clock",
            "um sieben",
            "um 7",
            "at 7",
            "gegen 7h30",
            "at noon",
            "um Mitternacht",
            "half past seven",
            "quarter to 8",
            "viertel acht",
            "Viertel nach acht",
            "dreiviertel 8",
            "halb neun",
            "7 pm",
        ],
    )
    def test_a_doubt_is_no_time_and_beside_a_time_leaves_none(self, text: str) -> None:
        assert confirmed_time(text) is None
        assert confirmed_time(f"{text}. Um 06:15 auf.") is None
        assert confirmed_time(f"06:15 auf.\n{text}") is None

    @pytest.mark.parametrize(
        "text",
        [
            "7 bis 8 Uhr",
            "7 und 8 Uhr",
            "7 oder 8:30",
            "sieben bis 8 Uhr",
            "08:00 bis 9",
            "8 Uhr bis neun",
            "08:00 - 9",
            "08:00 – 9",
            "7 to 8:30 am",
            "5 vor 8 Uhr",
            "zehn nach 8 Uhr",
            "five past 08:00",
            "Viertel vor 8 Uhr",
            "viertel 8 Uhr",
            "quarter to 8:00",
            "halb 8 Uhr",
            "5 nach halb acht morgens",
        ],
    )
    def test_a_time_that_a_neighbour_changes_is_none(self, text: str) -> None:
        assert confirmed_time(text) is None

    @pytest.mark.parametrize(
        "text",
        [
            "7 Uhr abends",
            "abends um 7 Uhr",
            "Am Abend war ich um 8 Uhr im Kino",
            "Abendessen um 7:30",
            "Mittagessen um 1 Uhr",
            "2 Uhr nachts",
            "dinner at 7:30 in the evening",
            "um 12:30 los, abends müde",
            "07:30 abends",
            "15 Uhr morgens",
            "um 11 Uhr\nGute Nacht",
        ],
    )
    def test_a_time_against_the_part_of_the_day_is_none(self, text: str) -> None:
        assert confirmed_time(text) is None

    @pytest.mark.parametrize(
        ("text", "time"),
        [
            ("Am Morgen um 7 Uhr", at(7)),
            ("um 12 Uhr Mittagessen", at(12)),
            ("Um 07:30 auf, abends müde", at(7, 30)),
            ("abends um 19 Uhr", at(19)),
            ("00:30 Uhr, gute Nacht", at(0, 30)),
            ("7:30 pm, a long evening", at(19, 30)),
            ("7:30 und 07:30, abends müde", at(7, 30)),
            ("07:30 und 7:30, abends müde", at(7, 30)),
        ],
    )
    def test_a_time_that_agrees_or_has_one_reading_stays(self, text: str, time: TimeOfDay) -> None:
        assert confirmed_time(text) == time

    def test_the_form_alone_decides_and_not_what_it_says(self) -> None:
        """Documented: a score or a verse in the form of a time is taken for one."""
        assert confirmed_time("Wir gewannen 12:10.") == at(12, 10)
        assert confirmed_time("Johannes 3:16") == at(3, 16)

    def test_letters_that_only_a_careless_comparison_takes_for_others(self) -> None:
        assert confirmed_time("7:30 nıght") == at(7, 30)
        assert confirmed_time("7:30 NIGHT") is None
        assert confirmed_time("7 Uhr ABENDS") is None

    def test_long_texts(self) -> None:
        assert confirmed_time("a " * 200_000 + "07:30") == at(7, 30)
        assert confirmed_time("x" * 1_000_000 + " 07:30") == at(7, 30)
        assert confirmed_time("07:30 " * 50_000) == at(7, 30)
        assert confirmed_time("(" * 500_000 + "07:30" + ")" * 500_000) == at(7, 30)
        assert confirmed_time("1" * 500_000 + ":30") is None


class TestProperties:
    @given(st.integers(0, 23), st.integers(0, 59), st.sampled_from(["", " Uhr"]))
    def test_every_minute_of_the_day(self, hour: int, minute: int, end: str) -> None:
        for written in (f"{hour}:{minute:02}{end}", f"{hour:02}:{minute:02}{end}", f"{hour}.{minute:02} Uhr"):
            assert confirmed_time(f"Los um {written}.") == at(hour, minute)
        assert confirmed_time(f"{hour} Uhr {minute:02}.") == at(hour, minute)

    @given(st.integers(1, 12), st.integers(0, 59), st.sampled_from(["am", "pm"]))
    def test_every_minute_of_half_a_day(self, hour: int, minute: int, half: str) -> None:
        assert confirmed_time(f"{hour}:{minute:02} {half}") == at(hour % 12 + (12 if half == "pm" else 0), minute)

    @given(st.text(st.sampled_from("017:.- \nUhrhalbctmp٧’"), max_size=24))
    @example("7:30 am\n")
    @example("halb")
    @example("um")
    def test_any_text_gives_a_time_of_the_day_or_none(self, text: str) -> None:
        found = confirmed_time(text)
        assert found is None or 0 <= found.earliest <= found.latest < 24 * HOUR
        assert confirmed_time(text + "\n" + text) == found
        assert confirmed_time(text + "\nhalb neun") is None

    @given(st.data())
    def test_the_pair_is_one_that_breaks_the_rule_and_none_is_overlooked(self, data: st.DataObject) -> None:
        minute = st.integers(0, 5)
        span = st.tuples(minute, minute).map(lambda two: TimeOfDay(min(two), max(two)))
        times = data.draw(st.lists(st.none() | span | minute.map(lambda one: TimeOfDay(one, one)), max_size=6))
        proposed = data.draw(st.permutations(range(len(times))))

        def breaks(first: int, second: int) -> bool:
            one, two = times[first], times[second]
            return first > second and (one is None or two is None or one.latest >= two.earliest)

        broken = [pair for pair in itertools.combinations(proposed, 2) if breaks(*pair)]
        found = unconfirmed_pair(proposed, times)
        assert (found is None) == (not broken)
        assert found is None or found in broken
