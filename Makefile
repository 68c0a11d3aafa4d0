# Verbs only: each calls a script or the package manager, so that CI and a person run the same thing.
PICTURES := $(or $(FOLDER),.build/pictures)

.PHONY: help setup build test acceptance-cluster senders lint subjects format check asan tsan coverage demo demo-cluster chaos pictures bench bench-setup profile properties planted crash soak fuzz fuzz-api fuzz-patterns attacks drills package package-test notes site clean

help: ## Show the verbs
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: ## Install Debian packages and the Python clients (once)
	@deploy/setup.sh

build: setup ## Build the release program
	swift build -c release --product freshet

test: setup ## Set up, then run every test; the end of the output lists the failures
	@Tests/run.sh

# Suites about what senders, hosts and operators are promised: the contract, the engine, event streams.
ACCEPTANCE := PushWire|ClientMatrix|ForeignClients|FreshetClient|GeneratedClient|Send|Sender|BadInput|RateLimit|PushMax|MergedListener|HostListenerPush|Channel|Receipt|DryRun|Order|EventStream|Provider|TimelineFinding|Upstream|HostPage|InstancePage|Certificate|KeyReload|LiveApp|Amendment

acceptance-cluster: setup ## The acceptance of the contract, engine and streams with three gateways on three NATS brokers, each request at the next; FILTER='PushWireTests' for fewer
	swift build --build-tests
	FRESHET_TEST_LOG=shared SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=4 swift test --skip-build --disable-xctest \
		--filter "$(or $(FILTER),EndToEndTests\.($(ACCEPTANCE))Tests)"

senders: setup ## Six clients that are not ours push 5,000 times at once and 1,000 a second for SECONDS (default 60): none may be lost
	swift build --build-tests
	SENDER_SECONDS="$(or $(SECONDS),60)" swift test --skip-build --disable-xctest --filter SenderTests

lint: ## Check the format, strictly
	swift format lint --strict --recursive --parallel Package.swift Sources Tests docs/examples/client-swift docs/examples/provider-swift

format: ## Format in place
	swift format format --in-place --recursive --parallel Package.swift Sources Tests docs/examples/client-swift docs/examples/provider-swift

subjects: ## Check the subjects of the commits since this branch left main; BASE=REVISION for others
	@Tests/subjects.sh $(BASE)

check: lint subjects test ## What CI runs: lint, the commits' subjects, then every test

tsan: setup ## Run the suites with threads under the thread sanitiser, in .build-thread; FILTER='GatewayTests' for others
	@FILTER="$(FILTER)" Tests/checked.sh thread

asan: setup ## Run the suites that call C or have unsafe code under the address sanitiser, in .build-address; FILTER for others
	@FILTER="$(FILTER)" Tests/checked.sh address

coverage: setup ## Count the lines of Sources that tests run, by target, in .build-coverage, without the end-to-end tests
	@FILTER="$(FILTER)" Tests/checked.sh coverage

demo: setup ## A gateway, 10,000 hosts, real clients; KEEP=1 leaves it running, JOURNAL=jetstream has the log on a NATS broker
	@KEEP="$(KEEP)" JOURNAL="$(JOURNAL)" deploy/demo/run.sh

demo-cluster: setup ## Three gateways share a log on three NATS brokers, under the traffic of clients; an owner, a broker and a standby are killed
ifndef PROGRAM
	swift build -c release --product freshet
endif
	@.venv/bin/python deploy/demo/cluster.py --program "$(or $(PROGRAM),.build/release/freshet)"

# The pictures of the README and of docs/dashboard.md are some of those that `pictures` takes.
pictures: setup ## Pictures of the dashboard (empty, quiet, a burst, WIDGETS=1000000, each incident of the drill book) in FOLDER=.build/pictures; README=1 renews the README's
	swift build --build-tests
	@PICTURES="$(PICTURES)" HOSTS="$(or $(HOSTS),2000)" WIDGETS="$(or $(WIDGETS),100000)" deploy/demo/run.sh
	FRESHET_TEST_PICTURES="$(abspath $(PICTURES))" swift test --skip-build --disable-xctest --filter IncidentTests
ifdef README
	cp "$(PICTURES)/host-page.png" docs/pictures
	for name in empty quiet burst many; do cp "$(PICTURES)/dashboard-$$name-wide-light.png" docs/pictures/dashboard-$$name.png; done
	cp "$(PICTURES)/dashboard-incident-wide-dark.png" docs/pictures/dashboard-incident.png
endif

bench-setup: setup ## Install and build the peers that bench compares with (once)
	@deploy/bench/setup.sh

bench: setup ## Measure every row beside its peers, in one table; OPTIONS="--only index --json"
	@deploy/bench/run.sh $(OPTIONS)

profile: setup ## Where the CPU time of pushes goes, by function; OPTIONS="--seconds 30 --output profile.txt"
	swift build -c release --product freshet
	@.venv/bin/python deploy/bench/profile.py --program .build/release/freshet $(OPTIONS)

properties: setup ## Run 100,000 random schedules of the engine, as many seeds of its models and of failing worlds, and 50,000 clusters; SEEDS=10 for fewer
	FRESHET_SEEDS="$(or $(SEEDS),589)" FRESHET_COVERAGE_MIN="$(if $(SEEDS),1,1000)" \
		swift test -c release -Xswiftc -enable-testing --disable-xctest \
		--filter 'EngineTests.(PropertyTests|PromiseTests|SlicingTests|ObligationTests)' --skip 'damaged records'
	FRESHET_SEEDS="$(or $(SEEDS),336)" swift test -c release -Xswiftc -enable-testing --disable-xctest \
		--filter 'TimelinesTests.(ReloadBudgetModel|TimingWheelModel|RollingDay|TunedWindows|ViewRate)Tests'
	FRESHET_SEEDS="$(or $(SEEDS),100)" swift test -c release -Xswiftc -enable-testing --disable-xctest \
		--filter 'SimulationTests.(Fault|Cluster)Tests'

planted: setup ## Plant faults in the engine one at a time: its property tests must find each within 10,000 schedules; OPTIONS="--only tombstone"
	@.venv/bin/python Tests/EngineFaults/plant.py $(OPTIONS)

crash: setup ## Kill a gateway ROUNDS (default 300) times at any moment, and at each interesting point: it must come back whole
	swift build --build-tests
	FRESHET_CRASH_ROUNDS="$(or $(ROUNDS),300)" swift test --skip-build --disable-xctest --filter CrashMatrixTests

chaos: setup ## Kill, stop, drain and slow down gateways and brokers under load for ROUNDS (default 20), by SEED, the last of LONG seconds, with brokers upgraded from NATS to NATS_LATER: nothing may be lost or done twice
ifndef PROGRAM
	swift build -c release --product freshet
endif
	@.venv/bin/python Tests/Chaos --program "$(or $(PROGRAM),.build/release/freshet)" --rounds "$(or $(ROUNDS),20)" $(if $(SEED),--seed $(SEED)) $(if $(LONG),--long $(LONG)) $(if $(NATS),--nats $(NATS)) $(if $(NATS_LATER),--nats-later $(NATS_LATER))

soak: setup ## ROUNDS crashes, abuse probes, then mixed load for MINUTES (default 60); memory, descriptors and latency must stay flat
	@MINUTES="$(or $(MINUTES),60)" ROUNDS="$(or $(ROUNDS),300)" deploy/bench/soak.sh

fuzz: setup ## Every route with damaged requests, SEEDS (default 10) for MINUTES (default 60) in all, beside another team that must not feel it
	swift build -c release --product freshet
	@.venv/bin/python Tests/Fuzz/Routes --program .build/release/freshet --neighbour \
		--seeds "$(or $(SEEDS),10)" --minutes "$(or $(MINUTES),60)"

fuzz-api: setup ## The routes of operators and hosts by docs/openapi.yaml, EXAMPLES (default 200) for each by SEED (default 1), alone and in rows of requests
	swift build --build-tests
	FRESHET_TEST_EXAMPLES="$(or $(EXAMPLES),200)" FRESHET_TEST_SEED="$(or $(SEED),1)" swift test --skip-build --disable-xctest --filter 'OperatorDocumentTests.*routes'

drills: setup ## Go through the drill book of docs/operating.md: each incident is provoked, and has to look as the book says, in its time
	swift build --build-tests
	FRESHET_TEST_DRILL_TIMES=1 swift test --skip-build --disable-xctest --filter IncidentTests

fuzz-patterns: setup ## Match patterns under libFuzzer, for SECONDS (default 600)
	@SECONDS_MAX="$(or $(SECONDS),600)" Tests/Fuzz/run.sh

attacks: setup ## Known attacks one by one, in a table: the cost of each, and its effect on another team
	swift build -c release --product freshet
	@.venv/bin/python Tests/Fuzz/Routes/attacks.py --program .build/release/freshet

package: setup ## Pack the committed files into .build/package/out: a .deb, an archive, an OCI image, a list of their contents, checksums
	@deploy/package/package.sh

package-test: ## What make package has made, in namespaces, as root: installed without Swift, run, upgraded and purged; the image read-only
	@deploy/package/test.sh

notes: ## Print the section of CHANGELOG.md about VERSION, for its tag; fails if it has no day
	@deploy/release-notes.sh $(VERSION)

site: ## The pages as a site with a search, in .build/site; fails if a link leads nowhere, or if a page loads something from elsewhere
	@deploy/site/build.sh

clean: ## Remove everything that was built
	rm -rf .build .build-thread .build-address .build-coverage .venv .demo
