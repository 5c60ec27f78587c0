// The peer's command line: `peer PART [--name value]...`. An unknown name or an unusable value ends
// the program with status 2, as warplab's own programs do.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

class Options {
  public:
    // Allowed names and their defaults.
    Options(int argc, char** argv, std::map<std::string, std::string> defaults) : values(std::move(defaults)) {
        for (int i = 2; i < argc; i += 2) {
            std::string name = argv[i];
            if (name.rfind("--", 0) != 0 || !values.count(name.substr(2))) {
                std::string known;
                for (auto& [key, value] : values) known += " --" + key;
                fail("unknown option " + name + "; this part takes" + known);
            }
            if (i + 1 == argc) fail(name + " needs a value");
            values[name.substr(2)] = argv[i + 1];
        }
    }

    const std::string& text(const std::string& name) const { return values.at(name); }

    // A comma-separated list of positive integers.
    std::vector<size_t> numbers(const std::string& name) const {
        std::vector<size_t> list;
        for (auto& item : items(name)) {
            char* end = nullptr;
            errno = 0;
            unsigned long long value = strtoull(item.c_str(), &end, 10);
            if (item.empty() || item[0] < '0' || item[0] > '9' || *end || errno || value == 0)
                fail("--" + name + " needs positive integers, given '" + item + "'");
            list.push_back(value);
        }
        return list;
    }

    size_t number(const std::string& name) const {
        auto list = numbers(name);
        if (list.size() != 1) fail("--" + name + " needs one number, given '" + text(name) + "'");
        return list[0];
    }

    std::vector<std::string> items(const std::string& name) const {
        std::vector<std::string> list(1);
        for (char c : text(name)) {
            if (c == ',') list.emplace_back();
            else list.back() += c;
        }
        return list;
    }

    [[noreturn]] static void fail(const std::string& message) {
        fprintf(stderr, "peer: %s\n", message.c_str());
        exit(2);
    }

  private:
    std::map<std::string, std::string> values;
};
