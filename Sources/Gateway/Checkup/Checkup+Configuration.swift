package import Settings
import WidgetModel

/// Judges the surroundings of a gateway: makes findings of the readings of a machine and a configuration. Pure.
package enum Checkup {
    /// The findings of a ``ConfigurationCheck``, with a word for the good parts.
    package static func findings(
        of check: ConfigurationCheck,
        _ configuration: GatewayConfiguration
    ) -> [CheckupFinding] {
        var findings = self.findings(of: check.faults, .fault) + self.findings(of: check.warnings, .warning)
        let counted = ["teams", "apps"]
        // A finding that is about neither the teams nor the apps is about the files that they and listeners name.
        if findings.allSatisfy({ counted.contains($0.subject) }) {
            findings.append(
                CheckupFinding(
                    "files",
                    .good,
                    "certificates fit their keys and are valid for at least two weeks, and other users cannot read secrets"
                )
            )
        }
        for (name, count) in zip(counted, [configuration.teams.count, configuration.apps.count]) where count > 0 {
            findings.append(CheckupFinding(name, .good, "there \(count == 1 ? "is 1" : "are \(count)")"))
        }
        return findings
    }

    /// Faults of a configuration's text or files, each with its place.
    package static func findings(of faults: [SettingFault], _ verdict: CheckupFinding.Verdict) -> [CheckupFinding] {
        faults.map { fault in
            let subject = fault.path.isEmpty ? "configuration" : fault.path
            return CheckupFinding(subject, verdict, fault.sentence + (fault.place.text.map { " (\($0))" } ?? ""))
        }
    }
}
