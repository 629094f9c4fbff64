import ArgumentParser
import Certificates
import Foundation
import ScribeServer

struct Hosts: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the lines for a hosts file that lead the SDKs' own hosts here, or keep them in it.",
        discussion: "The SDKs ask on port 443; how it leads to the server's is printed too."
    )

    @OptionGroup var options: CertificateOptions

    @Option(help: "Where the hosts are to lead.")
    var address = "127.0.0.1"

    @Flag(help: "Keep the lines in the hosts file, between two marks. Needs the rights to.")
    var write = false

    @Flag(help: "Take them out again.")
    var remove = false

    @Option(
        name: .customLong("for"),
        help:
            "Print a shell script that keeps them on another machine, such as the one that the server's container runs on."
    )
    var machine: HostsScript.Machine?

    @Option(help: ArgumentHelp("The hosts file.", valueName: "path"))
    var file = HostsFile.usual

    func validate() throws {
        if write, remove { throw ValidationError("--write and --remove exclude each other") }
        if machine != nil, write || remove { throw ValidationError("--for changes no file of this machine") }
        guard case .address? = CertificateName(address) else {
            throw ValidationError("--address: '\(address)' is no address")
        }
    }

    func run() throws {
        if let machine {
            print(HostsScript(machine: machine, address: address).text, terminator: "")
            return
        }
        let lines = HostsFile.lines(leadingTo: address)
        // Before anything is written: it may find that the settings cannot be read.
        let portSteps = remove ? "" : Self.portSteps(try options.run().configuration.tls.port)
        guard write || remove else {
            print(lines.joined(separator: "\n"))
            StandardError.write("\nTo keep them in \(file):\n  \(HostsFile.writeStep)")
            StandardError.write("\n" + portSteps)
            return
        }
        do {
            let hosts = HostsFile(path: file)
            if write {
                try hosts.keep(lines)
                print(
                    "\(file): \(lines.count { !$0.hasPrefix("#") }) hosts lead to \(address); take them out with --remove"
                )
                StandardError.write("\n" + portSteps)
            } else {
                print(
                    "\(file): "
                        + (try hosts.removeLines() ? "nothing leads here any more" : "there is nothing of ours in it"))
            }
        } catch let problem as HostsFile.Problem {
            StandardError.write("scribe-emulator: \(problem)")
            throw ExitCode.failure
        }
    }

    /// How port 443 of this machine leads to the server's.
    static func portSteps(_ port: Int) -> String {
        guard port != 443 else { return "The server listens on 443, where SDKs ask." }
        #if os(macOS)
            return """
                SDKs ask on port 443. To lead it to \(port), until the next restart:
                  echo "rdr pass on lo0 inet proto tcp from any to 127.0.0.1 port 443 -> 127.0.0.1 port \(port)" | sudo pfctl -ef -
                Undone by: sudo pfctl -f /etc/pf.conf
                """
        #else
            return """
                SDKs ask on port 443. To let the server have it, until the next restart:
                  sudo sysctl net.ipv4.ip_unprivileged_port_start=443 && \(Bundle.main.executablePath ?? "scribe-emulator") serve --tls --tls-port 443
                or to lead it to \(port) (sudo apt-get install iptables), undone by the same with -D in place of -A:
                  sudo iptables -t nat -A OUTPUT -d 127.0.0.1 -p tcp --dport 443 -j REDIRECT --to-ports \(port)
                In Docker: ports: ["127.0.0.1:443:\(port)"]
                """
        #endif
    }
}
