# The verbs of this repository. `make run` and `make test` install what they need (Debian packages, PyPI).

.PHONY: run build test demo lint format clean

# make run ARGS="--port 9000"
run: build
	@exec .build/debug/scribe-emulator serve $(ARGS)

build:
	@scripts/install run
	@swift build --product scribe-emulator

# Everything there is: format, contract, unit and end-to-end tests.
test:
	@scripts/install test
	@scripts/test

# One consultation from speech to note. make demo STT=real listens for real.
demo:
	@scripts/install test
	@swift build --product scribe-emulator
	@demo/run.sh $(STT)

lint:
	@swift format lint --strict --parallel --recursive Package.swift Sources Tests

format:
	@swift format format --in-place --parallel --recursive Package.swift Sources Tests

clean:
	rm -rf .build .venv .scribe
