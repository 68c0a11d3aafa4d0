import APNSWire
import Engine
import HTTPTransport
import Partitions
import Serving
import Settings
import WidgetModel

/// Sums over all instances, and the data of charts.
extension OperatorRoutes {
    /// When the instances were walked over, and how old that is; null until they have been for the first time since the start.
    func survey(_ survey: BudgetSurveys.Survey?) -> (String, JSONValue?) {
        guard let survey else { return ("survey", .null) }
        for partition in survey.missing { self.coverage?.noteSilence(of: partition) }
        let age = max(.zero, self.clock.now() - survey.until)
        let value = JSONValue.object(of: [
            ("from", .instant(survey.from)),
            ("until", .instant(survey.until)),
            ("ageSeconds", .int(age.milliseconds / 1000)),
        ])
        return ("survey", value)
    }

    /// `GET /v1/budget`: how much is left of the budgets, who has nothing left, and how long the rest lasts.
    func budget(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        guard let survey = await self.watch.surveys.current() else { return try await self.answer([self.survey(nil)]) }
        let (app, kind) = (call.query("app"), call.query("kind"))
        let rows = survey.sum.kinds.filter { row in
            row.instances > 0 && self.reach.includes(row.app) && (app == nil || row.app.rawValue == app)
                && (kind == nil || row.kind.rawValue == kind)
        }
        .sorted { left, right in
            (left.exhausted, right.app.rawValue, right.kind.rawValue)
                > (right.exhausted, left.app.rawValue, left.kind.rawValue)
        }
        var sum = BudgetSurvey.KindRow(app: BundleID(""), kind: WidgetKind(""))
        for row in rows { sum += row }
        let tenth = 100 / BudgetSurvey.leftRows
        var exhausted = 0
        return try await self.answer([
            self.survey(survey),
            ("instances", .count(sum.instances)),
            ("unlimited", .count(sum.unlimited)),
            ("exhausted", .count(sum.exhausted)),
            ("waiting", .count(sum.waiting)),
            (
                "left",
                .array(
                    sum.left.enumerated().map { index, count in
                        JSONValue.object(of: [
                            ("from", .count(index * tenth)), ("to", .count((index + 1) * tenth)),
                            ("instances", .count(count)),
                        ])
                    }
                )
            ),
            ("kinds", .array(rows.map { Self.budget($0, survey.from) })),
            (
                "forecast",
                .array(
                    sum.exhaustedWithin.enumerated().map { hour, count in
                        exhausted += count
                        return JSONValue.object(of: [
                            ("at", .instant(survey.from + .hours(Int64(hour)))), ("instances", .count(exhausted)),
                        ])
                    }
                )
            ),
        ])
    }

    private static func budget(_ row: BudgetSurvey.KindRow, _ from: Instant) -> JSONValue {
        // By when the median instance has nothing left, at the pace of its window so far.
        var exhausted = 0
        let hour = row.exhaustedWithin.firstIndex { count in
            exhausted += count
            return exhausted * 2 >= row.instances
        }
        return JSONValue.object(of: [
            ("app", .string(row.app.rawValue)),
            ("kind", .string(row.kind.rawValue)),
            ("instances", .count(row.instances)),
            ("unlimited", .count(row.unlimited)),
            ("exhausted", .count(row.exhausted)),
            ("isSpent", .bool(row.isSpent)),
            ("waiting", .count(row.waiting)),
            ("waitingPushes", .count(row.waitingPushes)),
            ("charged", .count(row.charged)),
            ("allowance", .count(row.allowance)),
            ("exhaustedBy", hour.map { .instant(from + .hours(Int64($0))) }),
        ])
    }

    /// `GET /v1/forecast`: when timelines ask to be reloaded in the next hour, before smoothing and after.
    func forecast(_: OperatorCall) async throws(Problem) -> HTTPResponse {
        guard let survey = await self.watch.surveys.current() else { return try await self.answer([self.survey(nil)]) }
        let (asked, planned, from) = (survey.sum.asked, survey.sum.planned, survey.sum.from)
        let largest = asked.indices.filter { asked[$0] > 0 }.sorted { (asked[$0], $1) > (asked[$1], $0) }.prefix(10)
        let step = 10
        let recent = self.watch.history.samples(.second, limit: GatewayHistory.Step.second.capacity)
        return try await self.answer([
            self.survey(survey),
            ("bucketSeconds", .count(step)),
            ("from", .instant(from)),
            (
                "buckets",
                .array(
                    stride(from: 0, to: asked.count, by: step).map { start in
                        JSONValue.object(of: [
                            ("asked", .count(asked[start..<start + step].reduce(0) { $0 + Int($1) })),
                            ("planned", .count(planned[start..<start + step].reduce(0) { $0 + Int($1) })),
                        ])
                    }
                )
            ),
            ("askedPeak", .count(Int(asked.max() ?? 0))),
            ("plannedPeak", .count(Int(planned.max() ?? 0))),
            (
                "largest",
                .array(
                    largest.map { second in
                        JSONValue.object(of: [
                            ("at", .instant(from + .seconds(Int64(second)))), ("asked", .count(Int(asked[second]))),
                        ])
                    }
                )
            ),
            (
                "recent",
                .array(
                    recent.map { sample in
                        JSONValue.object(of: [("at", .instant(sample.at)), ("policy", .count(sample.policyReloads))])
                    }
                )
            ),
        ])
    }

    /// `GET /v1/history`: samples for charts, the oldest first.
    func samples(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let steps = GatewayHistory.Step.allCases.map { ($0.rawValue, $0) }
        let step = try call.word("step", steps) ?? .second
        let limit = try call.int("limit", in: 1...step.capacity) ?? step.capacity
        let after = try call.instant("after")
        let samples = self.watch.history.samples(step, after: after, limit: limit)
        return try await self.answer([
            ("step", .string(step.rawValue)),
            ("stepSeconds", .count(step.seconds)),
            ("samples", .array(samples.map { Views.sample($0) })),
        ])
    }

    /// `GET /v1/history/marks`: the events that charts mark, the oldest first.
    ///
    /// What operators did is read from the audit. Only administrators see their names.
    func marks(_ call: OperatorCall) async throws(Problem) -> HTTPResponse {
        let (after, now) = (try call.instant("after"), self.clock.now())
        let mayAudit = call.asker.caller.scope >= .admin
        let marks = self.watch.history.marks(after: after, now: now).map { (at: $0.at, json: Views.mark($0)) }
        let orders = AuditTrail.marked(self.doors.audit.known, after: after, now: now).map {
            (at: $0.at, json: Views.mark($0, namesCaller: mayAudit))
        }
        let all = (marks + orders).enumerated().sorted {
            ($0.element.at.milliseconds, $0.offset) < ($1.element.at.milliseconds, $1.offset)
        }
        return try await self.answer([("marks", .array(all.map(\.element.json)))])
    }
}
