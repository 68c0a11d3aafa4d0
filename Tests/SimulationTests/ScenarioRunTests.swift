import Engine
import Simulation
import Testing
import WidgetModel

/// The repository's scenarios, run on the engine.
@Suite struct ScenarioRunTests {
    @Test(arguments: Scenarios.names)
    func `a scenario's sums add up, and the same seed gives the same run`(name: String) throws {
        var scenario = try Scenarios.small(name, days: 2)
        let report = Scenarios.report(scenario)
        #expect(report.faults == [])
        #expect(report.measures.engine.instances == scenario.instanceCount)
        #expect(report.measures.engine.reloadsIssued > scenario.instanceCount)
        #expect(report.measures.engine.matched > 0)
        #expect(report.staleness.count > 0)
        #expect(report.total.looks > 0)
        #expect(Scenarios.report(scenario).jsonText == report.jsonText)
        scenario.seed += 1
        #expect(Scenarios.report(scenario).digest != report.digest)
    }

    @Test(arguments: ["departures", "weather"])
    func `how many partitions there are changes nothing`(name: String) throws {
        var scenario = try Scenarios.small(name, days: 2)
        let sums = [1, 3].map { partitions in
            scenario.partitions = partitions
            let report = Scenarios.report(scenario)
            #expect(report.measures.hashes.count == partitions)
            return [
                report.measures.pushes, report.measures.timelines, report.measures.engine.reloadsIssued,
                report.measures.engine.reloadsCharged, report.measures.engine.matched, report.staleness.count,
                report.staleness.percentile(95) ?? 0, report.total.looks, report.total.staleLooks.count,
                report.total.starved, report.measures.load.total, report.total.collateral, report.total.collateralOver,
                report.measures.tokenPushes, report.measures.ownReloads,
            ] + PushOutcome.allCases.map { report.measures.engine.outcomes[$0] }
        }
        #expect(sums[0] == sums[1])
    }

    @Test func `goals are on the widgets within seconds, and no widget starves on a sports night`() throws {
        let report = Scenarios.report(try Scenarios.small("sports-night", days: 3))
        #expect((report.staleness.percentile(50) ?? .max) <= 10)
        #expect(report.measures.engine.outcomes[.deferred] == 0)
        #expect(report.measures.engine.outcomes[.failed] > 0, "the provider failed on Monday night")
        #expect(report.measures.refused > 0)
        #expect(report.measures.engine.reloadsRefused > 0)
        #expect(report.measures.offline > 0)
        #expect(report.total.starved == 0)
    }

    /// A sports night with nothing wrong but this, from Sunday's first kick-off for six hours.
    private static func sportsNight(_ kind: SimulatedProvider.Fault.Kind? = nil) throws -> SimulationReport {
        var scenario = try Scenarios.small("sports-night", days: 1)
        var fault = SimulatedProvider.Fault()
        (fault.at, fault.length) = (.hours(11), .hours(6))
        if let kind { fault.kind = kind }
        scenario.kinds[0].provider.faults = kind == nil ? [] : [fault]
        return Scenarios.report(scenario)
    }

    @Test func `a slow provider makes goals as late as it is, and nothing is lost`() throws {
        let (sound, slow) = (try Self.sportsNight(), try Self.sportsNight(.slow(20)))
        // One to four seconds, and twenty times that.
        #expect((1...4).contains(sound.staleness.percentile(50) ?? 0))
        #expect((20...80).contains(slow.staleness.percentile(50) ?? 0))
        #expect(slow.staleness.count == sound.staleness.count && slow.total.neverShown == 0)
        #expect(slow.measures.refused == 0 && slow.total.starved == 0)
    }

    @Test func `a stuck provider is believed: everything it answers for is old until it is stuck no more`() throws {
        let (sound, stuck) = (try Self.sportsNight(), try Self.sportsNight(.stuck))
        // Every team has kicked off in the first hour, which no widget shows in those that follow.
        let seconds = stuck.total.instances * 3600
        #expect(stuck.measures.staleSeconds[12..<17].allSatisfy { $0 == seconds })
        #expect(sound.measures.staleSeconds[12..<17].allSatisfy { $0 < seconds / 10 })
        #expect(stuck.total.starved == stuck.total.instances && sound.total.starved == 0)
        // It answers, so nothing has failed; only its unchanged content can be found.
        #expect(stuck.measures.refused == 0 && stuck.measures.engine.outcomes[.failed] == 0)
        #expect(stuck.measures.engine.timelineFindings > sound.measures.engine.timelineFindings)
        #expect(stuck.staleness.count == sound.staleness.count && stuck.total.neverShown == 0)
    }

    @Test func `stocks sleep over the weekend, and the opening bell is spread`() throws {
        let scenario = try Scenarios.small("stock-market-week", days: 6)
        let report = Scenarios.report(scenario)
        let start = try #require(CivilTime("2026-10-28T04:00Z")).seconds
        #expect(scenario.start == start)
        // From Friday's close with an hour to calm down, 21:00 UTC, to Monday's opening, 14:30 UTC: clocks have changed.
        let friday = (try #require(CivilTime("2026-10-30T21:00Z")).seconds - start) / 3600
        let monday = (try #require(CivilTime("2026-11-02T14:00Z")).seconds - start) / 3600
        let policy = (friday..<monday).map { report.measures.reloadsByHour[$0][ReloadSource.policy.rawValue] }
        #expect(policy.reduce(0, +) == 0)
        #expect(report.measures.reloadsByHour[monday][ReloadSource.policy.rawValue] > 50)
        let load = report.measures.load
        let peaks = [load.smoothed, load.unsmoothed].map { ProviderLoad.peak($0, load.binSeconds).count }
        #expect(peaks[0] * 5 < peaks[1])
        #expect(report.measures.engine.outcomes[.superseded] > report.measures.engine.outcomes[.reloaded])
        #expect(report.measures.engine.reloadsObserved == report.measures.refreshes)
    }

    @Test func `a character that has healed is not polled`() throws {
        let report = Scenarios.report(try Scenarios.small("emoji-rangers", days: 3))
        let engine = report.measures.engine
        // One reload by policy at most for each push and each announced dragon: when health is whole.
        #expect(engine.reloadsByCause[Int(ReloadCause.policy.rawValue)] > 0)
        #expect(
            engine.reloadsByCause[Int(ReloadCause.policy.rawValue)]
                <= engine.reloadsIssued - engine.reloadsByCause[Int(ReloadCause.policy.rawValue)]
        )
        #expect(engine.reloadsExempt[Int(Exemption.appIntent.rawValue)] > 0)
        // The dragon comes on Wednesday at six, and every widget knew.
        #expect((report.staleness.percentile(95) ?? .max) < 3600)
        #expect(report.total.starved == 0)
    }

    @Test func `a clock that is put back delays no more than it was ahead`() throws {
        var scenario = try Scenarios.small("weather", days: 3)
        let stepped = Scenarios.report(scenario)
        #expect(scenario.clockSteps.count == 2)
        scenario.clockSteps = []
        let steady = Scenarios.report(scenario)
        #expect(stepped.digest != steady.digest)
        #expect(stepped.measures.pushes == steady.measures.pushes)
        #expect(stepped.measures.engine.matched == steady.measures.engine.matched)
        #expect(stepped.total.starved == 0)
        #expect(stepped.total.neverShown <= steady.total.neverShown + scenario.instanceCount)
    }

    @Test func `without pushes data is as old as timelines let it be`() throws {
        var scenario = try Scenarios.small("sports-night", days: 2)
        let pushed = Scenarios.report(scenario)
        for index in scenario.senders.indices { scenario.senders[index].target = .none }
        let silent = Scenarios.report(scenario)
        #expect(silent.measures.pushes == 0)
        #expect(silent.measures.engine.matched == 0)
        #expect((silent.staleness.percentile(50) ?? 0) > 20 * (pushed.staleness.percentile(50) ?? .max))
    }

    @Test func `on phones a push for one line brings the other widgets along, on boards none`() throws {
        var scenario = try Scenarios.small("departures", days: 2)
        let phones = Scenarios.report(scenario)
        let (commuters, boards) = (phones.measures.populations[0], phones.measures.populations[1])
        #expect(phones.faults == [])
        #expect(commuters.collateral > 0 && commuters.collateralOver > 0)
        #expect(boards.collateral == 0 && boards.collateralOver == 0)
        #expect(phones.measures.engine.reloadsCollateral == commuters.collateral)
        #expect(phones.measures.tokenPushes > 0 && phones.measures.ownReloads > 0)
        #expect(phones.measures.engine.reloadsObserved > 0)
        let hours = phones.measures.reloadsByHour.reduce(0) { $0 + $1[ReloadSource.collateral.rawValue] }
        #expect(hours == commuters.collateral + commuters.collateralOver)
        #expect(phones.text.contains("brought along"))
        for index in scenario.populations.indices { scenario.populations[index].delivery = .stream }
        let streams = Scenarios.report(scenario)
        #expect(streams.faults == [])
        #expect(streams.measures.engine.reloadsIssued > 0 && streams.measures.tokenPushes == 0)
        #expect(streams.total.collateral == 0 && streams.total.collateralOver == 0)
        #expect(!streams.text.contains("brought along"))
    }

    @Test func `pushes to tokens reach all widgets of a host and cost more`() throws {
        var scenario = try Scenarios.small("stock-market-week", days: 1)
        let matching = Scenarios.report(scenario)
        for index in scenario.senders.indices { scenario.senders[index].target = .tokens }
        let tokens = Scenarios.report(scenario)
        #expect(tokens.faults == [])
        #expect(tokens.measures.pushes > matching.measures.pushes)
        #expect(tokens.measures.engine.matched > matching.measures.engine.matched)
        #expect(tokens.measures.engine.reloadsCharged > matching.measures.engine.reloadsCharged)
    }
}
