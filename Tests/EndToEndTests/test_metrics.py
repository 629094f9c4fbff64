"""Metrics, log fields and what is made from them: the page, the alert rules and the dashboard."""

import json
import re
import subprocess

import pytest
import requests
from emulator import LOGGING, NAMED, PATIENCE, ROOT, run

PAGE = (ROOT / "docs/metrics.md").read_text()
ALERTS = ROOT / "docker/prometheus/alerts.yaml"
DASHBOARD = ROOT / "docker/grafana/scribe-emulator.json"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def rows(heading: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def consulted(served, chunks):
    """The metrics and the log of a server that had a consultation, a traced request, and a refused one."""
    server = served(*LOGGING)
    position = len(server.log)
    client = server.client()
    transaction = client.transaction("t-metrics")
    transaction.init()
    transaction.upload(client.s3(), *chunks[0])
    transaction.commit()
    transaction.poll()
    for trace in (f"00-{TRACE}-00f067aa0ba902b7-01", f"00-{TRACE.upper()}-00f067aa0ba902b7-01", "Unmistakable"):
        requests.get(f"{server.base_url}/voice/ping", headers={"traceparent": trace})
    text = requests.get(f"{server.base_url}/metrics").text
    server.logged("GET /voice/ping 200", times=3, position=position)
    return text, [json.loads(line) for line in server.log[position:].splitlines()]


def families(text: str) -> dict[str, tuple[str, str]]:
    """Type and help of each metric."""
    helps = dict(re.findall(r"^# HELP (\S+) (.+)$", text, re.M))
    return {name: (kind, helps[name]) for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", text, re.M)}


def test_the_page_lists_each_metric_with_its_type_labels_and_help(consulted):
    text, _ = consulted
    page = {names(name)[0]: (kind, help, names(labels)) for name, kind, labels, help in rows("Metrics")}
    assert {name: (kind, help) for name, (kind, help, _) in page.items()} == families(text)
    samples = re.findall(r"^([a-z_]+?)(?:\{(.+)\})? \S+$", text, re.M)
    assert samples
    for name, labels in samples:
        family = name if name in page else re.sub(r"_(bucket|sum|count)$", "", name)
        assert [label for label in re.findall(r'(\w+)="', labels) if label != "le"] == page[family][2], name


def test_what_the_process_is_and_uses_is_measured(consulted):
    text, _ = consulted
    value = {name: float(number) for name, number in re.findall(r"^(\w+) (\S+)$", text, re.M)}
    assert value["process_start_time_seconds"] > 1_700_000_000
    assert value["process_cpu_seconds_total"] > 0
    assert value["process_resident_memory_bytes"] > 1 << 20
    assert 0 < value["process_open_fds"] < value["process_max_fds"]
    assert (value["scribe_ready"], value["scribe_storage_has_room"], value["scribe_transcriber_available"]) == (1, 1, 1)
    assert 'scribe_circuit_open{engine="transcriber"} 0' in text
    assert 'scribe_circuit_open{engine="note_writer"} 0' in text
    assert 'scribe_circuit_open{engine="live"} 0' in text
    version = run("version").stdout.split()[0]
    assert re.search(rf'^scribe_build_info{{version="{re.escape(version)}",commit="\w+"}} 1$', text, re.M)


def promtool(*arguments, **options):
    result = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, **options)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


def test_promtool_finds_no_problem_in_the_metrics(consulted):
    assert promtool("check", "metrics", input=consulted[0]).strip() == ""


def test_promtool_accepts_the_alert_rules():
    assert "SUCCESS" in promtool("check", "rules", ALERTS)


def test_alerts_fire_when_they_should(tmp_path):
    """A server whose recogniser is left alone and fails, whose database and disk are gone, and a healthy one."""
    series = {
        'up{job="scribe-emulator",instance="bad"}': "0x40",
        'scribe_ready{instance="bad"}': "0x40",
        'scribe_storage_has_room{instance="bad"}': "0x40",
        'scribe_transcriber_available{instance="bad"}': "0x40",
        'scribe_circuit_open{instance="bad",engine="transcriber"}': "1x40",
        'scribe_requests_total{instance="bad",status="200"}': "0+60x40",
        'scribe_requests_total{instance="bad",status="503"}': "0+60x40",
        'scribe_chunks_total{instance="bad",outcome="success"}': "0+60x40",
        'scribe_chunks_total{instance="bad",outcome="transcription_failed"}': "0+60x40",
        'scribe_jobs{instance="bad"}': "200x40",
        'scribe_deliveries_failed{instance="bad"}': "0x20 1x20",
        'scribe_memory_held_bytes{instance="bad"}': "95x40",
        'scribe_memory_budget_bytes{instance="bad"}': "100x40",
        'process_open_fds{job="scribe-emulator",instance="bad"}': "90x40",
        'process_max_fds{job="scribe-emulator",instance="bad"}': "100x40",
    }
    healthy = {
        'up{job="scribe-emulator",instance="good"}': "1x40",
        'scribe_ready{instance="good"}': "1x40",
        'scribe_storage_has_room{instance="good"}': "1x40",
        'scribe_transcriber_available{instance="good"}': "1x40",
        'scribe_circuit_open{instance="good",engine="transcriber"}': "0x40",
        'scribe_requests_total{instance="good",status="200"}': "0+60x40",
        'scribe_requests_total{instance="good",status="503"}': "0x40",
        'scribe_chunks_total{instance="good",outcome="success"}': "0+60x40",
        'scribe_jobs{instance="good"}': "3x40",
        'scribe_deliveries_failed{instance="good"}': "1x40",
        'scribe_memory_held_bytes{instance="good"}': "5x40",
        'scribe_memory_budget_bytes{instance="good"}': "100x40",
        'process_open_fds{job="scribe-emulator",instance="good"}': "9x40",
        'process_max_fds{job="scribe-emulator",instance="good"}': "100x40",
    }
    alerts = re.findall(r"- alert: (\w+)", ALERTS.read_text())
    cases = {
        "rule_files": [str(ALERTS)],
        "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in (series | healthy).items()],
            # Not one alert is of the healthy server, and each is of the other.
            "promql_expr_test": [
                {
                    "expr": 'count by (alertname) (ALERTS{alertstate="firing",instance="bad"})',
                    "eval_time": "35m",
                    "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts],
                },
                {"expr": 'ALERTS{instance="good"}', "eval_time": "35m", "exp_samples": []},
            ],
        }],
    }
    # JSON is YAML.
    file = tmp_path / "cases.yaml"
    file.write_text(json.dumps(cases))
    assert "SUCCESS" in promtool("test", "rules", file)


def test_rules_and_dashboard_ask_for_metrics_and_labels_that_exist():
    known = {names(row[0])[0]: set(names(row[2])) for row in rows("Metrics")}
    histograms = {names(row[0])[0] for row in rows("Metrics") if row[1] == "histogram"}
    series = set(known) | {name + end for name in histograms for end in ("_bucket", "_sum", "_count")}
    dashboard = json.loads(DASHBOARD.read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += re.findall(r"expr: (?:\|\n((?: {10,}.+\n)+)|(.+)\n)", ALERTS.read_text())
    text = "\n".join(part if isinstance(part, str) else "".join(part) for part in asked)
    used = set(re.findall(r"\b((?:scribe|process)_[a-z_]+)\b", text))
    assert used <= series and len(used) > 20, used - series
    labels = set().union(*known.values()) | {"instance", "job", "le"}
    assert set(re.findall(r"\b(\w+)!?=~?\"", text)) <= labels
    for group in re.findall(r"by \(([^)]+)\)", text):
        assert set(group.replace(" ", "").split(",")) <= labels, group
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in dashboard["panels"])


def logged_fields() -> set[str]:
    """The names of fields that the sources log."""
    found = set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        text = path.read_text()
        if "ogger" not in text:
            continue
        for start in re.finditer(r'metadata: \[(?=[\s"])|Logger\.Metadata(?: = \[| \{)', text):
            block = text[start.end():]
            end = re.search(r"\]\)|\]\n|\n\s*[\])}]", block)
            found |= set(re.findall(r'"([a-z_]+)": ', block[:end.start() if end else 300]))
        for line in re.findall(r"= (\[.+) as Logger\.Metadata", text):
            found |= set(re.findall(r'"([a-z_]+)": ', line))
        found |= set(re.findall(r'metadata(?:Key: |\[)"([a-z_]+)"', text))
    return found


def test_the_page_lists_each_log_field_with_its_type(consulted):
    types = {name: kind for cell, kind, _ in rows("Log fields") for name in names(cell)}
    assert set(types) == logged_fields() | {"time", "level", "message", "request_id"}
    for line in consulted[1]:
        for name, value in line.items():
            # The libraries beneath have names of their own.
            if name in types:
                assert isinstance(value, (int, float)) == (types[name] == "number"), (name, value)
    served = [line for line in consulted[1] if "route" in line]
    assert served and all(isinstance(line["status"], int) and line["ms"] >= 0 for line in served)


def test_a_valid_traceparent_is_logged_and_no_other(consulted):
    pings = [line for line in consulted[1] if line.get("route") == "/voice/ping"]
    assert [line.get("trace_id") for line in pings] == [TRACE, None, None]
    assert "Unmistakable" not in json.dumps(consulted[1])


@pytest.mark.parametrize("flags, format", [(NAMED, "text"), (LOGGING, "json")], ids=["text", "json"])
def test_the_log_has_the_format_that_is_asked_for(served, flags, format):
    server = served(*flags)
    position = len(server.log)
    requests.get(f"{server.base_url}/voice/ping", headers={"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})
    server.logged("GET /voice/ping 200", position=position)
    lines = server.log[position:].splitlines()
    if format == "json":
        assert any(json.loads(line)["message"] == "GET /voice/ping 200" for line in lines)
    else:
        line = next(line for line in lines if "GET /voice/ping 200" in line)
        assert re.search(rf"info +GET /voice/ping 200 ms=\S+ request_id=\S+ trace_id={TRACE}$", line)
