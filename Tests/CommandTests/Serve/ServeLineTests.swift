import ArgumentParser
import Testing

@testable import scribe_emulator

@Suite("Plain lines of serve")
struct ServeLineTests {
    /// Ways to write one setting, twice where it may be there twice.
    static func lines(_ setting: Setting) -> [[String]] {
        let flag = "--\(setting.name)"
        if setting.isSwitch { return [[flag]] }
        let single = [
            [flag, "x"], ["\(flag)=x=y"], [flag, "~/x"], ["--port", "1", flag == "--port" ? "--host" : flag, "x,z"],
        ]
        return setting.valueType.takesList ? single + [[flag, "x", "\(flag)=y,z"]] : single
    }

    @Test("a plain line means what ArgumentParser reads in it", arguments: Setting.all.map(\.name))
    func equal(name: String) throws {
        let setting = try #require(Setting.all.first { $0.name == name })
        for line in Self.lines(setting) {
            let read = try #require(ServeLine(["serve"] + line), "\(line)")
            let parsed = try SettingFlags.parse(line).given
            #expect(read.given == parsed, "\(line)")
        }
    }

    @Test("the file of settings and the process that ends the server may be in a plain line")
    func others() throws {
        let line = try #require(ServeLine(["serve", "--config", "a.yaml", "--exit-with-parent=7", "--port", "0"]))
        #expect(line.config == "a.yaml")
        #expect(line.exitWithParent == "7")
        #expect(line.given == ["port": "0"])
    }

    @Test(
        "ArgumentParser reads every other line",
        arguments: [
            "", "ready", "serve x", "serve --help", "serve -h", "serve --prot 1", "serve --port", "serve --port -1",
            "serve --port=", "serve --port 1 --port 2", "serve --ephemeral --ephemeral", "serve --ephemeral=true",
            "serve --no-ephemeral", "serve --new-signing-key", "serve --", "serve -- --port 1", "serve --port --host x",
            "serve --config a --config b", "serve --exit-with-parent 1 --exit-with-parent 2", "--port 1 serve",
            "serve --=1",
        ])
    func unread(line: String) {
        #expect(ServeLine(line.split(separator: " ").map(String.init)) == nil)
    }
}
