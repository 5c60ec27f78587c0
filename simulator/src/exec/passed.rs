//! Finds threads that go past a barrier which others wait at.
//!
//! Exited threads are not waited for, so a barrier on one side of a branch would be released as
//! soon as the threads of the other side have exited, and one in a loop as soon as the threads
//! with fewer trips have. Both are told from an early return by the *join*, the first instruction
//! that every thread reaches behind the barrier and that can be reached around it, or that stands
//! behind its loop: a thread that got there more often than a waiting one has passed the barrier
//! by. Counting makes the finding independent of the order in which warps run, and right in loops
//! around both.

use petgraph::{
    Direction,
    algo::dominators,
    graph::{DiGraph, NodeIndex},
    visit::Reversed,
};

use crate::program::{Action, BarrierKind, Program, WARP_SIZE};

/// A barrier of the whole block and its join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) barrier: u32,
    pub(crate) join: u32,
}

/// The sites of a program, and at which instructions to count.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    pub(crate) sites: Vec<Site>,
    /// By instruction: whether it is a join.
    is_join: Vec<bool>,
}

/// How often each lane of a warp has reached each site's join.
pub(crate) type Passes = Vec<[u32; WARP_SIZE]>;

impl Sites {
    /// Analyses a program.
    pub(crate) fn of(program: &Program) -> Self {
        let barriers: Vec<u32> = (0..program.instructions.len() as u32)
            .filter(|&pc| match program.instructions[pc as usize].action {
                Action::Barrier(barrier) => {
                    !barrier.has_count && barrier.kind != BarrierKind::Arrive
                }
                _ => false,
            })
            .collect();
        let mut sites = Self {
            sites: Vec::new(),
            is_join: vec![false; program.instructions.len()],
        };
        if barriers.is_empty() {
            return sites;
        }
        let (graph, entry, exit) = flow(program);
        let post = dominators::simple_fast(Reversed(&graph), exit);
        for barrier in barriers {
            let node = NodeIndex::new(barrier as usize);
            let around = reachable(&graph, entry, node);
            let join = post
                .strict_dominators(node)
                .into_iter()
                .flatten()
                .take_while(|&join| join != exit)
                .find(|&join| around[join.index()] || leaves_loop(&graph, node, join))
                .map(|join| join.index() as u32);
            // Where the sides meet only to exit, one of them has returned early.
            let join = join.filter(|&join| {
                let instruction = &program.instructions[join as usize];
                !matches!(instruction.action, Action::Exit | Action::Return { .. })
            });
            if let Some(join) = join {
                sites.is_join[join as usize] = true;
                sites.sites.push(Site { barrier, join });
            }
        }
        sites
    }

    /// Counts the lanes of `mask`, which are about to run `pc`.
    #[inline]
    pub(crate) fn count(&self, pc: u32, mask: u32, passes: &mut Passes) {
        if self.is_join[pc as usize] {
            for (site, counts) in self.sites.iter().zip(passes) {
                if site.join == pc {
                    super::lanes(mask).for_each(|lane| counts[lane] += 1);
                }
            }
        }
    }

    /// The site of a barrier that can be passed by.
    pub(crate) fn at(&self, barrier: u32) -> Option<(usize, Site)> {
        self.sites
            .iter()
            .copied()
            .enumerate()
            .find(|(_, site)| site.barrier == barrier)
    }
}

/// What can be reached from behind `from` without going through `avoided`.
fn reachable(graph: &DiGraph<(), ()>, from: NodeIndex, avoided: NodeIndex) -> Vec<bool> {
    let mut reached = vec![false; graph.node_count()];
    let mut stack: Vec<NodeIndex> = graph.neighbors(from).collect();
    while let Some(node) = stack.pop() {
        if node != avoided && !std::mem::replace(&mut reached[node.index()], true) {
            stack.extend(graph.neighbors(node));
        }
    }
    reached
}

/// Whether `join` stands behind a loop around `barrier`: the loop goes round without it, and no
/// other loop reaches it without the barrier.
fn leaves_loop(graph: &DiGraph<(), ()>, barrier: NodeIndex, join: NodeIndex) -> bool {
    let is_leader = graph
        .neighbors_directed(join, Direction::Incoming)
        .any(|before| graph.neighbors(before).count() > 1);
    is_leader
        && reachable(graph, barrier, join)[barrier.index()]
        && !reachable(graph, join, barrier)[join.index()]
}

/// The control flow over instructions, with a virtual entry before every function's start and a
/// virtual exit. A call goes on behind itself.
fn flow(program: &Program) -> (DiGraph<(), ()>, NodeIndex, NodeIndex) {
    let count = program.instructions.len();
    let mut graph = DiGraph::with_capacity(count + 2, 2 * count);
    (0..count + 2).for_each(|_| {
        graph.add_node(());
    });
    let (entry, exit) = (NodeIndex::new(count), NodeIndex::new(count + 1));
    graph.add_edge(entry, NodeIndex::new(0), ());
    for (pc, instruction) in program.instructions.iter().enumerate() {
        let here = NodeIndex::new(pc);
        let mut falls_through = instruction.guard.is_some();
        let mut go = |target: u32| {
            graph.update_edge(here, NodeIndex::new(target as usize), ());
        };
        match instruction.action {
            Action::Branch(target) => go(target),
            Action::BranchIndexed(table) => {
                program.branch_tables[table as usize]
                    .iter()
                    .copied()
                    .for_each(go);
            }
            Action::Exit | Action::Return { .. } | Action::Trap => {
                graph.update_edge(here, exit, ());
            }
            Action::Call { target, .. } => {
                graph.update_edge(entry, NodeIndex::new(target as usize), ());
                falls_through = true;
            }
            _ => falls_through = true,
        }
        if falls_through {
            let next = if pc + 1 < count {
                NodeIndex::new(pc + 1)
            } else {
                exit
            };
            graph.update_edge(here, next, ());
        }
    }
    (graph, entry, exit)
}
