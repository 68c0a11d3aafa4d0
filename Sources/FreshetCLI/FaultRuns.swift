import ArgumentParser
import Foundation
import Simulation

/// Runs with faults for many seeds, on all processors.
struct FaultRuns: Sendable {
    let first: UInt64
    let count: Int
    /// Whether each is of several machines that have one log on brokers, or of one gateway.
    let isOfClusters: Bool
    let isQuiet: Bool

    /// How many runs a task does before it reports.
    private static let runsPerTask = 50

    private struct Sum: Sendable {
        var crashes = 0
        var steps = 0
        var violations: [String] = []
    }

    /// Prints every violation with its seed; exit code 1 if there is any.
    func run() async throws {
        let tasks = (self.count + Self.runsPerTask - 1) / Self.runsPerTask
        let progress = ProgressBar(total: tasks, isQuiet: self.isQuiet)
        let sum = await withTaskGroup(of: Sum.self) { group in
            var next = 0
            var sum = Sum()
            // A few tasks at a time, so that a hundred thousand seeds take no memory.
            for _ in 0..<min(tasks, ProcessInfo.processInfo.activeProcessorCount * 2) {
                let task = next
                group.addTask { self.part(task) }
                next += 1
            }
            while let part = await group.next() {
                sum.crashes += part.crashes
                sum.steps += part.steps
                sum.violations += part.violations
                progress.advance()
                guard next < tasks else { continue }
                let task = next
                group.addTask { self.part(task) }
                next += 1
            }
            return sum
        }
        progress.finish()
        for violation in sum.violations { Output.standardError(violation) }
        if !self.isQuiet {
            print("\(self.count) seeds, \(sum.crashes) crashes, \(sum.steps) steps: \(sum.violations.count) violations")
        }
        if !sum.violations.isEmpty { throw ExitCode(1) }
    }

    private func part(_ task: Int) -> Sum {
        var sum = Sum()
        for offset in task * Self.runsPerTask..<min((task + 1) * Self.runsPerTask, self.count) {
            let seed = self.first &+ UInt64(offset)
            if self.isOfClusters {
                var run = ClusterRun(seed: seed)
                sum.violations += run.run()
                sum.crashes += run.crashes
                sum.steps += run.steps
            } else {
                var run = FaultRun(seed: seed)
                sum.violations += run.run()
                sum.crashes += run.crashes
                sum.steps += run.steps
            }
        }
        return sum
    }
}
