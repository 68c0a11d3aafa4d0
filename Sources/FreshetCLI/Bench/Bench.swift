import ArgumentParser

/// `freshet bench`
struct Bench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put a load on a gateway and report honest latencies.",
        discussion: """
            A scenario is a YAML file with hosts, loads over time and objectives. docs/load-testing.md lists its keys; \
            docs/examples/bench has examples. With --quick you use a scenario of the program, in a size that suits the \
            machine. Without --push-port, bench starts a gateway of its own in a temporary folder, and removes it at \
            the end.

              freshet bench --quick
              freshet bench --quick burst --html burst.html
              freshet bench --quick burst --widgets 300000 --print > burst.yaml
              freshet bench docs/examples/bench/steady.yaml
              freshet bench goal.yaml --scale 0.1 --html goal.html --hlog goal.hlog
              freshet bench steady.yaml --push-port 2197 --host-port 8443 \\
                --ca certs/ca.pem --key certs/provider-key.p8 \\
                  --kid F6G7H8J9K0 --team A1B2C3D4E5
              freshet bench compare before.json after.json

            Exit codes: 0 done, 1 an objective is missed or the run failed, 64 wrong usage, 78 the scenario has faults.
            """,
        subcommands: [BenchRun.self, BenchCompare.self],
        defaultSubcommand: BenchRun.self
    )
}
