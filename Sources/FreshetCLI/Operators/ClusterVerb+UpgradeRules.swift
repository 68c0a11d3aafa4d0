import ArgumentParser
import WidgetModel

extension ClusterVerb {
    /// `freshet cluster upgrade-rules`
    struct UpgradeRules: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Move the partitions to the decision rules of another version, newer or older.",
            discussion: """
                Only nodes with the rules of a partition own it. So a node of another version owns nothing until you \
                order this. Then each owner stops at an entry, writes a snapshot of exactly that state, and hands the \
                partition to a node with the other rules, one partition after the other. Pushes are accepted all the \
                while. docs/jetstream.md explains upgrades, and how to go back.

                The verb waits until all partitions have passed, and shows its progress. You may stop it: the order stays.

                  freshet cluster upgrade-rules --dry-run
                  freshet cluster upgrade-rules --yes
                  freshet cluster upgrade-rules --to 1 --yes

                Exit codes: 0 done, or ordered with --no-wait, 1 the gateway does not answer or there is nothing to \
                change to, 2 it refused.
                """
        )

        @Option(help: "The version of the rules. By default the newer ones that nodes have.")
        var to: Int?
        @Flag(help: "Only show what would be done.") var dryRun = false
        @Flag(help: "Order it, and do not wait.") var noWait = false
        @OptionGroup var gateway: OperatorOptions
        @OptionGroup var answer: AnswerOptions
        @OptionGroup var confirmation: ConfirmationOptions

        private static let lookSpacing = Duration.seconds(1)

        func run() async throws {
            let found = try await self.read()
            let plan: RulesUpgrade
            do throws(RulesUpgrade.UpgradeError) {
                plan = try RulesUpgrade(found, to: self.to)
            } catch {
                Output.standardError("\(error)")
                throw ExitCode(1)
            }
            if self.dryRun { return self.show(plan, isOrdered: false, plan.plan) }
            let access = try self.gateway.access()
            let count = plan.left.count
            try self.confirmation.confirm(
                "have \(count) partitions go on by \(ClusterRules.words(plan.rules)) at \(access.url)"
            )
            let body = JSONValue.object(of: [
                ("action", .string("change-rules")), ("rules", .count(plan.rules)),
            ])
            _ = try await self.gateway.ask { try await $0.ask("POST", "/v1/cluster/orders", body) }
            if self.noWait {
                return self.show(plan, isOrdered: true, ["Ordered: \(count) partitions pass to rules \(plan.rules)."])
            }
            let done = try await self.wait(plan)
            self.show(done, isOrdered: true, [done.progress])
        }

        private func read() async throws -> JSONValue {
            try await self.gateway.ask { try await $0.ask("GET", "/v1/cluster") }.json
        }

        private func wait(_ plan: RulesUpgrade) async throws -> RulesUpgrade {
            var (seen, waiting) = (plan, [ClusterRules.Partition]())
            while !seen.isDone {
                try await Task.sleep(for: Self.lookSpacing)
                // The node that was asked may be the one that has them now: its answer counts.
                seen = (try? RulesUpgrade(await self.read(), to: plan.rules)) ?? seen
                guard !self.answer.json else { continue }
                Output.progress(seen.progress, isLast: seen.isDone)
                guard seen.waiting != waiting else { continue }
                waiting = seen.waiting
                if !waiting.isEmpty { for trouble in seen.troubles { Output.standardError(trouble) } }
            }
            return seen
        }

        private func show(_ upgrade: RulesUpgrade, isOrdered: Bool, _ lines: [String]) {
            guard !self.answer.json else { return Output.line(upgrade.json(isOrdered: isOrdered).words) }
            for line in lines { Output.line(line) }
        }
    }
}
