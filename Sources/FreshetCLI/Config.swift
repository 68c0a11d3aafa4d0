import ArgumentParser

/// `freshet config`
struct Config: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show a running gateway's configuration, and change its teams and apps.",
        discussion: """
            To check a file without a gateway, use freshet check-config. To make a gateway read its file again, use \
            freshet reload.

              freshet config show
              freshet config diff
              freshet config put --app com.example.news --file news.yaml

            Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused, 78 a reload would be refused.
            """,
        subcommands: [
            Show.self, Diff.self, Get.self, Put.self, End.self, Revert.self, Amendments.self,
        ]
    )

    /// `freshet config show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the configuration in force, without secrets, and the result of the last reload, as JSON.",
            discussion: """
                  freshet config show --context production
                """
        )

        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions

        /// JSON, also without --json: a form for people is the configuration file's.
        func run() async throws {
            Output.line(try await self.gateway.ask { try await $0.ask("GET", "/v1/config") }.text)
        }
    }

    /// `freshet config diff`
    struct Diff: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the changes of a reload, and the instances that it would orphan.",
            discussion: """
                The gateway reads its configuration file as for SIGHUP, but applies nothing. You see one line for each \
                key that differs: the value in force, and the new one.

                  freshet config diff --ca certs/ca.pem

                Exit codes: 0 answered, 1 the gateway does not answer, 2 it refused, 78 a reload would be refused.
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
