import ArgumentParser

/// `freshet config`
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running gateway about its configuration, and change teams and apps of it.",
        discussion: """
            freshet check-config looks at a file without a gateway, freshet reload lets a gateway read its file again.

              freshet config show
              freshet config diff
              freshet config put --app com.example.news --file news.yaml

            Exit codes: 0 told, 1 the gateway does not answer, 2 it refused, 78 a reload would be refused.
            """,
        subcommands: [
            Show.self, Diff.self, Get.self, Put.self, End.self, Revert.self, Amendments.self,
        ]
    )

    /// `freshet config show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the configuration in force, without secrets, and what came of reading it last: JSON.",
            discussion: """
                  freshet config show --context production
                """
        )

        @OptionGroup var gateway: OperatorOptions

        func run() async throws {
            Output.line(try await self.gateway.ask { try await $0.ask("GET", "/v1/config") }.text)
        }
    }

    /// `freshet config diff`
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what a reload would change and orphan, before it is taken.",
            discussion: """
                The gateway reads its configuration as SIGHUP would, and takes nothing of it. One line for each key that differs: \
                what is in force, and what would be.

                  freshet config diff --ca certs/ca.pem

                Exit codes: 0 told, 1 the gateway does not answer, 2 it refused, 78 a reload would be refused.
                """
        )

        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        func run() async throws {
            let difference = try await self.gateway.ask { try await $0.ask("GET", "/v1/config/diff") }
            if self.answer.json { Output.line(difference.text) }
            try ConfigurationAnswers.refuse(difference.json)
            guard !self.answer.json else { return }
            for line in ConfigurationAnswers.lines(difference: difference.json) { Output.line(line) }
        }
    }
}
