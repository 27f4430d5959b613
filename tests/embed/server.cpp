// The loop of a server: requests in a queue, threads that answer them. Model and Tokenizer are shared, a Session belongs
// to a thread. Here a request is a line of stdin, and its answer a line `NUMBER TEXT` with escapes for line ends.
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <iostream>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "minnow/hosted.hpp"

namespace {

using minnow::Status;
constexpr std::align_val_t kBoundary{minnow::kAlign};

struct Request {
  std::size_t number = 0;
  std::string text;
};

class Queue {
 public:
  void put(Request request) {
    const std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back(std::move(request));
    changed_.notify_one();
  }
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  bool take(Request* out) {  // false: closed and empty
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !requests_.empty(); });
    if (requests_.empty()) return false;
    *out = std::move(requests_.front());
    requests_.pop_front();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool closed_ = false;
};

// `answer` grows while the text is generated; a real server would send it on, and return false when the client is gone.
Status reply(minnow::Session& session, const minnow::Tokenizer& tokenizer, const std::string& text, std::string* answer) {
  minnow::SamplerConfig greedy;
  greedy.temperature = 0;
  minnow::Sampler sampler;
  std::vector<minnow::Token> prompt(text.size() + 2);
  minnow::EncodeResult encoded;
  minnow::GenerateConfig config;
  config.user = answer;
  config.on_text = [](void* user, std::string_view more) { return static_cast<std::string*>(user)->append(more), true; };
  Status status = minnow::Sampler::create(greedy, &sampler);
  if (status == Status::ok) status = tokenizer.encode(text, {prompt.data(), prompt.size()}, &encoded);
  session.reset();
  if (status == Status::ok) status = generate(session, &tokenizer, sampler, {prompt.data(), encoded.tokens}, config);
  return status;
}

void work(const minnow::Model& model, const minnow::Tokenizer& tokenizer, Queue& queue, std::mutex& output) {
  std::size_t bytes = 0;
  Status created = minnow::Session::memory_needed(model, {}, &bytes);
  const auto release = [](void* at) { operator delete(at, kBoundary); };
  const std::unique_ptr<void, decltype(release)> memory(operator new(bytes, kBoundary), release);
  minnow::Session session;
  if (created == Status::ok) {
    created = minnow::Session::create(model, {}, {static_cast<std::byte*>(memory.get()), bytes}, &session);
  }
  for (Request request; queue.take(&request);) {
    std::string answer;
    const Status status = created == Status::ok ? reply(session, tokenizer, request.text, &answer) : created;
    if (status != Status::ok) answer = to_string(status);
    for (std::size_t i = 0; (i = answer.find('\n', i)) != std::string::npos;) answer.replace(i, 1, "\\n");
    const std::lock_guard<std::mutex> lock(output);
    std::cout << request.number << ' ' << answer << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  minnow::FileMap file;
  minnow::Model model;
  minnow::Tokenizer tokenizer;
  if (argc != 2) return std::fputs("usage: server MODEL < requests\n", stderr), 2;
  Status status = minnow::FileMap::open(argv[1], &file);
  if (status == Status::ok) status = minnow::Model::open(file.bytes(), &model);
  if (status == Status::ok) status = minnow::Tokenizer::open(model, &tokenizer);
  if (status != Status::ok) return std::fprintf(stderr, "server: %s: %s\n", argv[1], to_string(status)), 1;
  Queue queue;
  std::mutex output;
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < minnow::ThreadPool::usable_cores(); ++i) {
    threads.emplace_back([&] { work(model, tokenizer, queue, output); });
  }
  std::size_t number = 0;
  for (std::string line; std::getline(std::cin, line);) queue.put({number++, line});
  queue.close();
  for (std::thread& thread : threads) thread.join();
}
