import ArgumentParser
import Basics
import Certificates
import Foundation
import ScribeServer

struct Hosts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hosts",
        abstract: "Print or write the lines of a hosts file that point the SDKs' hosts to the server.",
        discussion: "SDKs use port 443. The output also says how to direct that port to the server."
    )

    @OptionGroup var options: CertificateOptions

    @Option(help: "The server's address.")
    var address = "127.0.0.1"

    @Flag(help: "Write the lines to the hosts file, between two marks. You may need sudo.")
    var write = false

    @Flag(help: "Remove the lines from the hosts file. You may need sudo.")
    var remove = false

    @Option(
        name: .customLong("for"),
        help:
            "Print a shell script that writes the lines on another machine, such as the host of the server's container."
    )
    var machine: HostsScript.Machine?

    @Option(help: ArgumentHelp("The hosts file.", valueName: "path"), transform: Setting.path)
    var file = HostsFile.usual

    func validate() throws {
        if write, remove { throw ValidationError("--write and --remove cannot be used together; leave one out") }
        if machine != nil, write || remove {
            throw ValidationError("--for prints a script for another machine; leave out --write and --remove")
        }
        guard case .address? = CertificateName(address) else {
            throw ValidationError("--address: '\(address)' is not an IP address; write for example 127.0.0.1")
        }
    }

    func run() throws {
        if let machine {
            print(HostsScript(machine: machine, address: address).text, terminator: "")
            return
        }
        let lines = HostsFile.lines(mappingTo: address)
        // Before the hosts file is written, since the settings may be invalid.
        let portSteps = remove ? "" : Self.portSteps(try options.run().configuration.tls.port)
        guard write || remove else {
            print(lines.joined(separator: "\n"))
            StandardError.write("\nTo write them to \(file):\n  \(HostsFile.writeStep)")
            StandardError.write("\n" + portSteps)
            return
        }
        do {
            let hosts = HostsFile(path: file)
            if write {
                try hosts.writeBlock(lines)
                print(
                    "\(file): \(lines.count { !$0.hasPrefix("#") }) hosts now point to \(address); undo it with --remove"
                )
                StandardError.write("\n" + portSteps)
            } else {
                print(
                    "\(file): "
                        + (try hosts.removeBlock() ? "our lines are removed" : "there are no lines of ours in it"))
            }
        } catch let problem as HostsFile.Problem {
            throw ExitCode.explained("\(problem)")
        }
    }

    /// The steps that direct port 443 of this machine to the server.
    static func portSteps(_ port: Int) -> String {
        guard port != 443 else { return "The server listens on port 443, which SDKs use." }
        if OperatingSystem.isMac {
            return """
                SDKs use port 443. To direct it to port \(port) until the next restart:
                  echo "rdr pass on lo0 inet proto tcp from any to 127.0.0.1 port 443 -> 127.0.0.1 port \(port)" | sudo pfctl -ef -
                To undo it: sudo pfctl -f /etc/pf.conf
                """
        }
        return """
            SDKs use port 443. To let the server listen on it until the next restart:
              sudo sysctl net.ipv4.ip_unprivileged_port_start=443 && \(Bundle.main.executablePath ?? "scribe-emulator") serve --tls --tls-port 443
            or to direct it to port \(port) (sudo apt-get install iptables; to undo it, use -D in place of -A):
              sudo iptables -t nat -A OUTPUT -d 127.0.0.1 -p tcp --dport 443 -j REDIRECT --to-ports \(port)
            In Docker: ports: ["127.0.0.1:443:\(port)"]
            """
    }
}
